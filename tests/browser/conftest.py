"""A browser, and pages that must keep quiet; skipped where there is no browser."""

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.pages.site import Site, serve

if TYPE_CHECKING:
    from playwright.sync_api import Browser, ConsoleMessage, Page

SCREENSHOTS = Path(__file__).parents[2] / "build" / "screenshots"
_PATIENCE_SECONDS = 120  # of a machine that has much else to do
OpenPage = Callable[..., "Page"]
_FLAGS = [
    "--headless",
    "--no-sandbox",  # only our own pages are opened, and CI runs as root
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "browser: needs Playwright and Chromium; skipped elsewhere")


# Not for the session: Playwright keeps an event loop running in this thread while it is open, and
# tests of other packages start their own.
@pytest.fixture(scope="package")
def browser() -> Iterator["Browser"]:
    playwright = pytest.importorskip("playwright.sync_api")
    path = os.environ.get("CHROMIUM") or shutil.which("chromium")
    if path is None:
        pytest.skip("no Chromium: install it, or name it in CHROMIUM")
    with playwright.sync_playwright() as tool:
        running = tool.chromium.launch(executable_path=path, args=_FLAGS)
        yield running
        running.close()


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    with serve(tmp_path_factory.mktemp("site")) as running:
        yield running


@pytest.fixture
def open_page(browser: "Browser", site: Site) -> Iterator[OpenPage]:
    """Opens a page in a context of its own; at the end no page may have complained."""
    complaints: list[str] = []
    contexts = []

    def listen(message: "ConsoleMessage") -> None:
        if "status of 422" not in message.text:  # a form that is answered so is no fault
            complaints.append(f"{message.type}: {message.text} at {message.location}")

    def open_(path: str, **options: object) -> "Page":
        context = browser.new_context(base_url=site.address, **options)  # type: ignore[arg-type]
        context.set_default_timeout(_PATIENCE_SECONDS * 1000)
        contexts.append(context)
        page = context.new_page()
        page.on("console", listen)
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("dialog", lambda dialog: complaints.append(f"dialog: {dialog.message}"))
        page.goto(path)
        return page

    yield open_
    for context in contexts:
        context.close()
    assert complaints == []


def picture(page: "Page", name: str) -> None:
    """Keep what the page looks like."""
    SCREENSHOTS.mkdir(parents=True, exist_ok=True)
    page.screenshot(path=SCREENSHOTS / f"{name}.png", full_page=True)
