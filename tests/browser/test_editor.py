"""The editor of a task's page: what it helps with, and what it must not lose."""

import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.app.judging import beat
from tests.browser.conftest import OpenPage, picture
from tests.pages import samples
from tests.pages.site import Site

if TYPE_CHECKING:
    from playwright.sync_api import Page, Route

pytestmark = pytest.mark.browser


def test_who_types_before_the_editor_is_there_types_on_in_it(open_page: OpenPage) -> None:
    page = open_page("/docs")
    late: list[Route] = []
    page.route("**/codemirror-*", lambda route: late.append(route))
    page.goto("/tasks/softmax", wait_until="commit")
    box = page.get_by_role("textbox", name="Source")
    box.press("Control+a")
    page.keyboard.insert_text("first = 1\n\nthird = 3")
    for _ in range(len("\nthird = 3")):
        page.keyboard.press("ArrowLeft")
    while not late:
        page.wait_for_timeout(10)
    late[0].continue_()
    page.locator(".cm-content").wait_for()
    page.keyboard.type("second = 2")
    lines = page.locator(".cm-line").all_inner_texts()
    assert lines == ["first = 1", "second = 2", "third = 3"]

    page.locator("#source").focus()  # what is meant for the text area reaches the editor
    page.keyboard.press("Control+a")
    page.keyboard.type("all = 4")
    assert page.locator(".cm-line").all_inner_texts() == ["all = 4"]


def test_both_ways_to_submit_stand_side_by_side(open_page: OpenPage, site: Site) -> None:
    beat(site.queue, name="measurer", role="measure", device="H200")
    page = open_page("/tasks/softmax")
    only = page.get_by_role("button", name="Run on test cases only")
    while not only.count():
        page.reload()
    first, second = only.bounding_box(), page.get_by_role("button", name="Submit").bounding_box()
    assert first
    assert second
    assert first["y"] == second["y"]


def test_it_completes_what_triton_and_the_task_offer(open_page: OpenPage) -> None:
    page = open_page("/tasks/softmax")
    page.locator(".cm-content").press("Control+End")
    _complete(page, "\ntl.loa", "load")
    _complete(page, "(x, mas", "mask=")
    _complete(page, "sol", "solve")
    picture(page, "editor-completion")
    page.keyboard.type(") or triton.language.nothing()")
    assert _lines(page)[-1] == "tl.load(x, mask=solve) or triton.language.nothing()"
    page.locator(".cm-triton", has_text="tl.store").hover()
    page.get_by_text("tl.store(pointer, value, mask=None").wait_for()


def _complete(page: "Page", typed: str, offered: str) -> None:
    page.keyboard.type(typed)
    offer = page.locator(".cm-tooltip-autocomplete li[aria-selected]")
    offer.get_by_text(offered, exact=True).wait_for()
    offer.click()


def _lines(page: "Page") -> list[str]:
    return page.locator(".cm-line").all_inner_texts()


def test_a_draft_outlives_the_page_and_the_starter_is_a_click_away(open_page: OpenPage) -> None:
    page = open_page("/tasks/softmax")
    page.locator(".cm-content").press("Control+a")
    page.keyboard.insert_text("mine = 1")
    page.goto("/tasks/vector_add")
    page.locator(".cm-content").wait_for()
    assert not page.locator("#draft").is_visible(), "it is another task's"
    page.goto("/tasks/softmax")
    page.get_by_text("restored.").wait_for()
    assert _lines(page) == ["mine = 1"]
    page.get_by_role("button", name="Use the starter").click()
    assert _lines(page)[0] == "import torch"
    page.get_by_role("button", name="Use the draft").click()
    assert _lines(page) == ["mine = 1"]


def test_vim_keys_a_file_and_submitting_from_the_keyboard(
    open_page: OpenPage, site: Site, tmp_path: Path
) -> None:
    page = open_page("/tasks/softmax")
    page.get_by_label("Vim keys").check()
    page.reload()
    page.locator(".cm-content").press("d")
    page.keyboard.press("d")
    page.get_by_text("--NORMAL--").wait_for()
    assert _lines(page)[0] == "import triton"
    file = tmp_path / "mine.py"
    file.write_text(samples.SOURCE, encoding="utf-8")
    page.get_by_label("Or a file").set_input_files(file)
    page.locator(".cm-line", has_text="softmax").first.wait_for()
    page.locator(".cm-content").press("Control+Enter")
    page.wait_for_url("**/submissions/*")
    submission = page.url.rsplit("/", 1)[1]
    assert site.http.get(f"/api/v1/submissions/{submission}/source").text == samples.SOURCE


def test_a_build_error_leads_back_to_the_line_in_the_editor(
    open_page: OpenPage, site: Site
) -> None:
    submission = site.finish(samples.broken(site.submit()))
    page = open_page(f"/submissions/{submission}")
    page.get_by_role("link", name="Edit and submit again").click()
    page.locator(".cm-lint-marker-error").wait_for()
    line = page.locator(".cm-line", has=page.locator(".cm-lintRange-error"))
    assert "values = tl.load" in line.inner_text()
    page.locator(".cm-lint-marker-error").hover()
    page.get_by_text("Make the pointer a block as well.").wait_for()
    found = page.get_by_label("What was found in it").inner_text()
    assert found.startswith("Line 11: ")  # for those without the editor
    picture(page, "journey-build-error-in-editor")


def test_what_looks_like_a_syntax_error_is_said_while_one_writes(open_page: OpenPage) -> None:
    page = open_page("/tasks/softmax")
    editor, told = page.locator(".cm-content"), page.locator("#syntax")
    for source, words in (
        ("x = (1,\ny = 2\n", "Line 1: Looks like a syntax error: ( is never closed."),
        ("x = 1\nif x\n    y = 2\n", "Line 2: Looks like a syntax error."),
        ('x = 1\ny = """z\n', "Line 2: Looks like a syntax error: a string is never closed."),
        ("with (a as b, c as d):\n    x = 1\n", ""),
        ("match x:\n    case A() | B():\n        f(a for a, *_ in [b for b, *_ in x])\n\f\n", ""),
        ("x = [0., 5. + 1., 2. if y else 3.]\nz = f(1., 2.)", ""),
        ("x = [0., 1.\n", "Line 1: Looks like a syntax error: [ is never closed."),
        ("x = z.\n", "Line 1: Looks like a syntax error."),
        ("def f():\n    x = yield\n", ""),
        ("kernel[*shape](x)\nf = lambda a, /: a\nfor x in *a, b:\n    pass\n", ""),
        ("@kernels[0](1)\ndef f(): pass\n", ""),
        ("@triton.jit\ndef f()\n    pass\n", "Line 2: Looks like a syntax error."),
        (samples.SOURCE, ""),
    ):
        page.evaluate(
            """(source) => {
              const area = document.querySelector("#source");
              area.value = source;
              area.dispatchEvent(new Event("change"));
            }""",
            source,
        )
        told.filter(has_text=re.compile(f"^{re.escape(words)}$")).wait_for(state="attached")
        assert page.locator(".cm-lint-marker-error").count() == bool(words)
    editor.press("Control+Home")
    page.keyboard.type("x = = 1\n")
    told.get_by_text("Line 1: Looks like a syntax error.").wait_for()
    picture(page, "editor-syntax")


def test_the_keyboard_gets_into_the_editor_and_out(open_page: OpenPage) -> None:
    page = open_page("/tasks/softmax", viewport={"width": 390, "height": 844})
    page.locator(".cm-content").wait_for()
    assert page.evaluate("scrollY") == 0, "the page opens at its beginning"
    editor = page.get_by_role("textbox", name="Source")
    editor.press("Control+Home")
    page.keyboard.press("Tab")
    assert page.locator(".cm-line").first.inner_text().startswith("    import")
    page.keyboard.press("Escape")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.id") == "device"
