"""Measuring again and looking deeper, as people do it on a submission's page."""

import html
import time
from typing import Any

import pytest

from kernels.contract import Verdict
from kernels.contract.inspection import Inspection
from kernels.contract.rerun import RerunKind
from tests.pages import samples
from tests.pages.rerunning import (
    FOUND,
    PROFILE,
    RACES,
    accepted,
    ask,
    look,
    measure,
    measurer_of,
    offer,
    wait,
)
from tests.pages.site import Site


@pytest.fixture(autouse=True)
def measurer(site: Site) -> None:
    offer(site, memcheck="", racecheck="", profile="")


def looked(site: Site, submission: str, kind: RerunKind, found: Inspection) -> str:
    """The page after that look."""
    look(site, submission, kind, found)
    return html.unescape(site.html(f"/submissions/{submission}"))


def test_a_button_measures_again_and_the_page_shows_every_sitting(site: Site) -> None:
    submission = accepted(site)
    page = site.html(f"/submissions/{submission}")
    assert page.count("Measure again") == 1
    assert "All that count" not in page
    measure(site, submission)
    page = site.html(f"/submissions/{submission}")
    assert "All that count" in page
    assert "2 sittings" in page
    assert f"/api/v1/submissions/{submission}/sittings/1" in page
    assert '<td class="number">2</td>' in site.html("/boards/softmax/H200")


def test_while_it_is_under_way_the_page_says_so_and_loads_itself(site: Site) -> None:
    submission = accepted(site)
    rerun = ask(site, submission, "remeasure")
    page = site.html(f"/submissions/{submission}")
    assert '<meta http-equiv="refresh"' in page
    assert "Measuring again: waiting for a measurer" in page
    assert "<button" not in page[page.index('id="again"') : page.index("<h2>Kernels")]
    voice, _ = measurer_of(site, rerun)
    voice.fail("the GPU is ill", final=True)
    wait(site, rerun)
    page = site.html(f"/submissions/{submission}")
    assert "The last attempt failed: the GPU is ill" in page
    assert '<meta http-equiv="refresh"' not in page


def test_what_is_held_is_said_on_the_page_and_on_the_board(site: Site) -> None:
    submission = accepted(site, scale=0.5)
    wrong = {
        "verdict": Verdict.WRONG_ANSWER,
        "reason": f"off {samples.HOSTILE}",
        "score": None,
        "cases": (),
    }
    measure(site, submission, **wrong)
    page = site.html(f"/submissions/{submission}")
    assert "<strong>Held:</strong> measured again it was wrong_answer: off" in page
    assert "the time counts on the board" not in page
    assert "Measure again" not in page
    assert "<script>" not in page
    board = site.html("/boards/softmax/H200")
    assert f'href="/submissions/{submission}"' in board[board.index("<h3>Held</h3>") :]
    assert "<script>" not in board


def test_what_tools_found_is_shown_with_lines(site: Site) -> None:
    submission = accepted(site)
    page = looked(site, submission, RerunKind.MEMCHECK, FOUND)
    assert "12 errors" in page
    assert '<a class="nowrap" href="#line-13">line 13</a>' in page
    assert "write of 4 bytes, global memory" in page
    assert 'Not looked at: <span class="mono">ragged_760</span>' in page
    raw = site.html(f"/submissions/{submission}")
    assert "<script>" not in raw
    page = looked(site, submission, RerunKind.RACECHECK, RACES)
    assert 'read at <a class="nowrap" href="#line-12">line 12</a>' in page
    page = looked(site, submission, RerunKind.PROFILE, PROFILE)
    for shown in ("It waits for memory.", "73.0 %", "long_scoreboard", "16.0"):
        assert shown in page


def test_a_tool_that_is_missing_is_said_in_place_of_the_button(site: Site) -> None:
    submission = accepted(site)
    offer(site, memcheck="switched off: set KERNELJUDGE_INSPECT=on", racecheck="", profile="")
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline:  # heartbeats are read once a second
        page = site.html(f"/submissions/{submission}")
        if "Not to be had now" in page:
            break
    assert "Not to be had now: switched off: set KERNELJUDGE_INSPECT=on." in page
    assert page.count('action="/submissions/' + submission + '/inspect"') == 2


@pytest.mark.parametrize("make", [samples.checked, samples.broken])
def test_nothing_is_offered_for_what_no_gpu_ran(site: Site, make: Any) -> None:
    page = site.html(f"/submissions/{site.finish(make(site.submit()))}")
    assert 'id="again"' not in page
    assert 'id="deeper"' not in page


def test_forms_of_other_sites_are_refused(site: Site) -> None:
    submission = accepted(site)
    headers = {"Sec-Fetch-Site": "cross-site"}
    for what in ("remeasure", "inspect"):
        path = f"/submissions/{submission}/{what}"
        response = site.http.post(path, data={"kind": "memcheck"}, headers=headers)
        assert response.status_code == 403
    assert site.http.post(f"/submissions/{submission}/inspect").status_code == 422
