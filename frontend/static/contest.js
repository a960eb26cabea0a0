// Counts down to the moments that a contest's page names; without it the page says them in words.
const units = [["d", 86400], ["h", 3600], ["min", 60], ["s", 1]];

function distance(milliseconds) {
  let left = Math.floor(Math.abs(milliseconds) / 1000);
  const parts = [];
  for (const [unit, seconds] of units) {
    const count = Math.floor(left / seconds);
    left -= count * seconds;
    if (count || parts.length) parts.push(`${count} ${unit}`);
  }
  const words = parts.join(" ") || "0 s";
  return milliseconds > 0 ? `in ${words}` : `${words} ago`;
}

function update() {
  for (const element of document.querySelectorAll("time[data-countdown]")) {
    element.textContent = distance(Date.parse(element.dateTime) - Date.now());
  }
}

update();
setInterval(update, 1000);
