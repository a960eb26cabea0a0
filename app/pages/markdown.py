"""Markdown of tasks and documents as HTML; HTML inside it stays text."""

import re
from functools import lru_cache
from itertools import pairwise

from markdown_it import MarkdownIt
from markupsafe import Markup

_parser = MarkdownIt("commonmark", {"html": False}).enable("table")


@lru_cache(maxsize=256)
def to_html(text: str) -> Markup:
    """The text as HTML whose headings can be linked to by their words."""
    tokens = _parser.parse(text)
    for opening, inline in pairwise(tokens):
        if opening.type == "heading_open":
            opening.attrSet("id", anchor(inline.content))
        elif opening.type == "table_open":
            opening.attrSet("tabindex", "0")
    html = _parser.renderer.render(tokens, _parser.options, {})
    # What scrolls must be reached by keyboard; all other markup is escaped, so this is ours.
    return Markup(html.replace("<pre>", '<pre tabindex="0">'))


def title(text: str) -> str | None:
    """The first top-level heading; None if there is none."""
    found = re.search(r"^# +(.+?) *$", text, re.MULTILINE)
    return found[1] if found else None


def anchor(heading: str) -> str:
    """The fragment of a heading: its words in lower case, joined by hyphens."""
    return re.sub(r"[^a-z0-9_]+", "-", heading.lower()).strip("-")
