import re
from pathlib import Path

from app.pages.assets import FRONTEND
from app.pages.documents import documents
from app.pages.markdown import to_html
from app.pages.verdicts import WORDINGS
from kernels.contract import Verdict


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
