"""Submitted text made safe to read: numbered lines, and every invisible character shown."""

import re
from collections.abc import Set
from dataclasses import dataclass

from markupsafe import Markup, escape

MOST_LINES = 5_000
"""A listing of more lines is shown as plain text: each line costs the browser an element."""

_ESCAPE_SEQUENCE = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[@-_])")
_INVISIBLE = re.compile(
    "([\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]+)"
)


@dataclass(frozen=True)
class Line:
    """One line of a submission."""

    number: int
    text: str
    marked: bool
    """Whether a diagnostic points at it."""


def lines(source: str, marked: Set[int] = frozenset()) -> tuple[Line, ...]:
    """The lines as Python counts them, from 1."""
    texts = source.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    if texts[-1] == "":
        texts.pop()
    return tuple(Line(n, text, n in marked) for n, text in enumerate(texts, 1))


def excerpt(all_lines: tuple[Line, ...], number: int, around: int = 2) -> tuple[Line, ...]:
    """A line with its neighbours, each cut to a width one can read; empty if it is not there."""
    if not 1 <= number <= len(all_lines):
        return ()
    chosen = all_lines[max(0, number - 1 - around) : number + around]
    return tuple(Line(line.number, _cut(line.text), line.number == number) for line in chosen)


def visible(text: str) -> Markup:
    """Escaped text in which control, direction and zero-width characters show their number."""
    parts = _INVISIBLE.split(text)
    shown = (_named(part) if index % 2 else escape(part) for index, part in enumerate(parts))
    return Markup("").join(shown)


def printed(text: str) -> Markup:
    """What a program printed: `visible`, without the colours it asked a terminal for."""
    return visible(_ESCAPE_SEQUENCE.sub("", text).replace("\r\n", "\n").replace("\r", "\n"))


def _named(run: str) -> Markup:
    times = f"\N{MULTIPLICATION SIGN}{len(run)}" if len(run) > 1 else ""
    return Markup('<span class="invisible">U+{:04X}{}</span>').format(ord(run[0]), times)


def _cut(text: str, width: int = 200) -> str:
    return text if len(text) <= width else text[: width - 1] + "…"
