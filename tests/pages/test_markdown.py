import re
import xml.etree.ElementTree as ET

import pytest

from app.pages.markdown import statement, title, to_html
from kernels.catalog import Catalog


def test_html_and_script_links_in_markdown_stay_text() -> None:
    html = to_html('<script>alert(1)</script>\n\n[x](javascript:alert(1)) <b onclick="y">z</b>')
    assert "<script" not in html
    assert "<b" not in html
    assert "href" not in html


def test_headings_can_be_linked_to() -> None:
    assert '<h2 id="wrong_answer">' in to_html("## wrong_answer")
    assert '<h2 id="what-counts">' in to_html("## What counts?")


def test_tables_are_known() -> None:
    assert "<td>1</td>" in to_html("| a |\n|---|\n| 1 |")


def test_title_is_the_first_heading() -> None:
    assert title("text\n# The title \n# other") == "The title"
    assert title("## only a section") is None


def test_formulas_of_a_statement_are_shown_and_nobody_elses() -> None:
    text = "```math\ny = \\frac{a}{b}\nz = 1\n```"
    shown = statement(text)
    assert shown.count("<math") == 2
    assert "<mfrac>" in shown
    assert "<math" not in to_html(text)
    assert '<code class="language-py">' in statement("```py\nx\n```")


@pytest.mark.parametrize("tex", [r"\begin{cases} a", "a ^", "a ^ b ^ c", r"\left( a"])
def test_what_is_no_formula_stays_text(tex: str) -> None:
    assert tex in str(statement(f"```math\na + b\n{tex}\n```"))


@pytest.mark.parametrize("task", Catalog())
def test_every_formula_is_well_formed(task: str) -> None:
    html = str(statement(Catalog()[task].statement))
    for formulas in re.findall(r'<div class="formulas".*?</div>', html):
        ET.fromstring(formulas)
