"""Markdown of tasks and documents as HTML; HTML inside it stays text."""

import re
from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise

from latex2mathml import exceptions
from latex2mathml.converter import convert
from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token
from markdown_it.utils import EnvType, OptionsDict
from markupsafe import Markup

_NOT_TEX: tuple[type[Exception], ...] = (
    StopIteration,
    *(error for error in vars(exceptions).values() if isinstance(error, type)),
)
"""What the converter raises; its exceptions have no common base."""


class _WithFormulas(RendererHTML):
    """Shows a block of `math` as formulas, one a line of TeX; as it is if one is no TeX."""

    def fence(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: EnvType) -> str:
        """A block of code, or formulas."""
        if tokens[idx].info.strip() != "math":
            return super().fence(tokens, idx, options, env)
        try:
            formulas = [convert(tex, display="block") for tex in tokens[idx].content.splitlines()]
        except _NOT_TEX:
            return super().fence(tokens, idx, options, env)
        return f'<div class="formulas" tabindex="0">{"".join(formulas)}</div>\n'


_parser = MarkdownIt("commonmark", {"html": False}).enable("table")
_of_tasks = MarkdownIt("commonmark", {"html": False}, renderer_cls=_WithFormulas).enable("table")


@lru_cache(maxsize=256)
def statement(text: str) -> Markup:
    """A task's statement as HTML; its formulas are trusted as the task's folder is."""
    return _rendered(_of_tasks, text)


@lru_cache(maxsize=256)
def to_html(text: str) -> Markup:
    """The text as HTML whose headings can be linked to by their words."""
    return _rendered(_parser, text)


def _rendered(parser: MarkdownIt, text: str) -> Markup:
    tokens = parser.parse(text)
    for opening, inline in pairwise(tokens):
        if opening.type == "heading_open":
            opening.attrSet("id", anchor(inline.content))
        elif opening.type == "table_open":
            opening.attrSet("tabindex", "0")
    html = parser.renderer.render(tokens, parser.options, {})
    # What scrolls must be reached by keyboard; all other markup is escaped, so this is ours.
    return Markup(html.replace("<pre>", '<pre tabindex="0">'))


def title(text: str) -> str | None:
    """The first top-level heading; None if there is none."""
    found = re.search(r"^# +(.+?) *$", text, re.MULTILINE)
    return found[1] if found else None


def anchor(heading: str) -> str:
    """The fragment of a heading: its words in lower case, joined by hyphens."""
    return re.sub(r"[^a-z0-9_]+", "-", heading.lower()).strip("-")
