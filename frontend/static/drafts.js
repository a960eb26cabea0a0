"use strict";
// Keeps what is typed for a task in this browser, and gives it back when the task is opened again.
(() => {
  const area = document.querySelector("textarea[data-draft]");
  const notice = document.querySelector("#draft");
  if (!area || !notice) return;
  const key = `kerneljudge draft ${area.dataset.draft}`;
  const given = area.defaultValue;
  const [words, other] = notice.children;

  function read() {
    try {
      const { source, at } = JSON.parse(localStorage.getItem(key));
      return typeof source === "string" && source !== given ? { source, at } : null;
    } catch { return null; }  // none, or the browser keeps nothing for us
  }

  function keep(source) {
    try {
      if (source === given) localStorage.removeItem(key);
      else localStorage.setItem(key, JSON.stringify({ source, at: Date.now() }));
    } catch { /* full, or not allowed: then it is kept as long as the page is open */ }
  }

  const draft = read();
  area.addEventListener("input", () => keep(area.value));
  if (!draft) return;

  function put(source) {
    area.value = source;
    area.dispatchEvent(new Event("change"));
  }

  function offer(restored) {
    const when = new Date(draft.at).toLocaleString([], { dateStyle: "medium", timeStyle: "short" });
    words.textContent = restored ? `Draft of ${when} restored.` : `There is a draft of ${when}.`;
    other.textContent = restored ? `Use ${notice.dataset.given}` : "Use the draft";
    other.onclick = () => {
      put(restored ? given : draft.source);
      offer(!restored);
    };
    notice.hidden = false;
  }

  const restore = "restore" in notice.dataset && area.value === given;
  if (restore) put(draft.source);
  offer(restore);
})();
