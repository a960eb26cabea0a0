"""The list of tasks: cards, what stands on them, how they are grouped and filtered."""

import re

import pytest

from tests.pages import samples
from tests.pages.site import Site


def _shown(page: str) -> list[str]:
    return re.findall(r'<h3><a href="/tasks/(\w+)">', page)


def test_every_task_has_a_card_with_a_picture(site: Site) -> None:
    page = site.html("/")
    known = [task["name"] for task in site.http.get("/api/v1/tasks").json()]
    assert sorted(_shown(page)) == sorted(known)
    drawings = re.findall(r'<svg class="operator".*?</svg>', page, re.DOTALL)
    assert len(drawings) == len(known)
    assert all("<path" in drawing for drawing in drawings)


def test_cards_stand_in_the_order_of_the_course(site: Site) -> None:
    [track] = site.http.get("/api/v1/tracks").json()
    course = [step["task"] for part in track["parts"] for step in part["steps"]]
    assert _shown(site.html("/"))[: len(course)] == course
    assert _shown(site.html(f"/?track={track['name']}")) == course


@pytest.mark.parametrize(
    ("query", "some", "none"),
    [
        ("tag=fp8", "matmul_fp8", "softmax"),
        ("difficulty=hard", "flash_attention", "vector_add"),
        ("difficulty=easy&tag=reduction", "softmax", "cross_entropy"),
        ("group=difficulty&tag=reduction", "softmax", "matmul"),
        ("state=new", "matmul", "rope"),
    ],
)
def test_the_address_filters(site: Site, query: str, some: str, none: str) -> None:
    site.submit(task="rope")
    shown = _shown(site.html(f"/?{query}"))
    assert some in shown
    assert none not in shown


@pytest.mark.parametrize("query", ["state=lazy", "group=size", "tag=%3Cscript%3E"])
def test_filters_that_make_no_sense_are_refused(site: Site, query: str) -> None:
    assert "cannot be filtered by this" in site.html(f"/?{query}", status=422)


def test_no_task_fits(site: Site) -> None:
    assert "No task fits." in site.html("/?tag=unheard_of")


def test_a_card_tells_the_best_entry_and_ones_own_state(site: Site) -> None:
    before = _card(site, "softmax")
    assert "house entry" in before
    site.finish(samples.wrong(site.submit()))
    assert 'class="state tried"' in _card(site, "softmax")
    site.finish(samples.accepted(site.submit()))
    after = _card(site, "softmax")
    assert 'class="state solved"' in after
    assert "by local" in after
    assert "of the roofline" in after


def _card(site: Site, task: str) -> str:
    page = site.html("/")
    [card] = [part for part in page.split("<li>") if f'<h3><a href="/tasks/{task}">' in part]
    return card
