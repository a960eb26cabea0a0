"""What every page must hold to: quiet is checked by `open_page`, all else here."""

from pathlib import Path
from typing import TYPE_CHECKING

from tests.browser.conftest import picture

if TYPE_CHECKING:
    from playwright.sync_api import Page

_HERE = Path(__file__).parent
_CONTRAST = (_HERE / "contrast.js").read_text()
_AXE = (_HERE / "vendor" / "axe-4.14.1.min.js").read_text(encoding="utf-8")
_SCROLLING = """[...document.querySelectorAll(".scroll:has(.brief)")]
    .filter((one) => one.scrollWidth > one.clientWidth).map((one) => one.ariaLabel)"""
_BARRIERS = """axe.run({rules: {"color-contrast": {enabled: false}}, resultTypes: ["violations"]})
  .then((result) => result.violations
    .filter((one) => ["serious", "critical"].includes(one.impact))
    .map((one) => [one.id, one.nodes.map((node) => node.html)]))"""


def look(page: "Page", name: str) -> None:
    """Keep what a page looks like; its texts are readable and it fits into the screen."""
    picture(page, name)
    assert_contrast(page, name)
    root = page.evaluate("[document.documentElement.scrollWidth, window.innerWidth]")
    assert root[0] <= root[1], f"{name} is wider than the screen"
    assert page.evaluate(_SCROLLING) == [], f"a board on {name} is wider than its place"


def assert_contrast(page: "Page", name: str) -> None:
    """No text is too close to the colour behind it."""
    assert page.evaluate(_CONTRAST) == [], name


def barriers(page: "Page") -> list[object]:
    """What axe finds serious or worse; contrast is left to `look`, which sees both schemes."""
    page.evaluate(_AXE)
    found: list[object] = page.evaluate(_BARRIERS)
    return found
