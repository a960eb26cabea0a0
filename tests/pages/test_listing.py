import pytest

from app.pages.listing import excerpt, lines, printed, visible
from tests.pages.samples import HOSTILE


def test_lines_are_counted_as_python_counts_them() -> None:
    source = "a\r\nb\rc\x0cd\n\n"
    assert [(line.number, line.text) for line in lines(source)] == [
        (1, "a"),
        (2, "b"),
        (3, "c\x0cd"),
        (4, ""),
    ]


def test_lines_know_which_are_marked() -> None:
    assert [line.marked for line in lines("a\nb\n", {2})] == [False, True]


@pytest.mark.parametrize(
    ("number", "shown"), [(1, [1, 2, 3]), (5, [3, 4, 5]), (3, [1, 2, 3, 4, 5]), (6, []), (0, [])]
)
def test_excerpt_stays_inside_the_source(number: int, shown: list[int]) -> None:
    found = excerpt(lines("a\nb\nc\nd\ne\n"), number)
    assert [line.number for line in found] == shown
    assert [line.number for line in found if line.marked] == ([number] if shown else [])


def test_excerpt_cuts_an_endless_line() -> None:
    (line,) = excerpt(lines("x" * 100_000), 1)
    assert len(line.text) == 200


def test_markup_is_escaped_and_invisible_characters_are_named() -> None:
    shown = str(visible(HOSTILE))
    assert "<script" not in shown
    assert "<img" not in shown
    assert '<span class="invisible">U+202E</span>' in shown


def test_runs_of_invisible_characters_are_counted() -> None:
    assert str(visible("a\u200b\u200b\u200bb")).count("<span") == 1


def test_tabs_and_line_ends_stay() -> None:
    assert str(visible("\tx = 1\n")) == "\tx = 1\n"


def test_terminal_colours_and_links_are_dropped_from_what_was_printed() -> None:
    text = "\x1b[1;31mred\x1b[0m \x1b]8;;http://example.com\x07link\x1b]8;;\x07\r\nnext"
    assert str(printed(text)) == "red link\nnext"
