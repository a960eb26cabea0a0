from app.pages.markdown import title, to_html


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
