import re
from pathlib import Path

import pytest

from app.pages.assets import FRONTEND
from app.pages.documents import documents
from app.pages.markdown import to_html
from app.pages.verdicts import WORDINGS
from kernels.contract import Verdict

_REPORTS = Path(__file__).parents[1] / "data" / "reports" / "h200"


def test_every_verdict_has_its_words_in_order() -> None:
    assert list(WORDINGS) == list(Verdict)


def test_every_verdict_is_documented_in_order() -> None:
    headings = re.findall(r'<h2 id="([^"]+)">', to_html(documents()["verdicts"].text))
    assert headings == [verdict.value for verdict in Verdict]


def test_every_verdict_has_a_colour_of_its_own() -> None:
    css = (FRONTEND / "static" / "style.css").read_text()
    colours = dict(re.findall(r"\.verdict-(\w+) \{ --tone: (.*?); \}", css))
    assert set(colours) == {verdict.value for verdict in Verdict}
    assert len(set(colours.values())) == len(colours)


def test_templates_name_every_vendored_script_that_is_there() -> None:
    vendored = {path.name for path in (FRONTEND / "vendor").glob("*.min.js")}
    used: set[str] = set()
    for template in Path(FRONTEND / "templates").glob("*.html"):
        used |= set(re.findall(r"static\('([^']+\.min\.js)'\)", template.read_text()))
    assert used == vendored


@pytest.mark.parametrize("verdict", Verdict)
def test_every_example_quotes_what_the_judge_said(verdict: Verdict) -> None:
    """Of softmax submissions that an H200 judged, where there is one with that verdict."""
    text = " ".join(documents()["verdicts"].text.split())
    part = text.split(f"## {verdict.value} ")[1].split(" ## ")[0]
    example = part.split("*Example:*")[1].split("*What")[0]
    known = [path.read_text() for path in _REPORTS.glob(f"softmax-{verdict.value}-*.json")]
    for quote in re.findall(r'"([^"]+)"', example) if known else ():
        assert any(quote in body for body in known), quote
