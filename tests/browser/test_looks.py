"""Every page in light and dark, wide and narrow: quiet, inside its width, readable."""

import pytest

from kernels.contract.rerun import RerunKind
from tests.browser.conftest import OpenPage, picture
from tests.browser.looking import assert_contrast, barriers, look
from tests.pages import compiling, rerunning, samples
from tests.pages.site import Site

pytestmark = pytest.mark.browser

_WIDTHS = {"wide": {"width": 1360, "height": 900}, "phone": {"width": 390, "height": 844}}
_SAMPLES = {
    "accepted": samples.accepted,
    "checked": samples.checked,
    "wrong": samples.wrong,
    "broken": samples.broken,
    "hostile": samples.hostile,
}


@pytest.fixture(scope="module")
def paths(site: Site) -> dict[str, str]:
    made = {
        name: f"/submissions/{site.finish(make(site.submit(_source(name))))}"
        for name, make in _SAMPLES.items()
    }
    rerunning.offer(site, memcheck="", racecheck="", profile="")
    again = rerunning.accepted(site, scale=1.1, plan=compiling.packed())
    rerunning.measure(site, again)
    rerunning.look(site, again, RerunKind.MEMCHECK, rerunning.FOUND)
    rerunning.look(site, again, RerunKind.RACECHECK, rerunning.RACES)
    rerunning.look(site, again, RerunKind.PROFILE, rerunning.PROFILE)
    return {
        "again": f"/submissions/{again}",
        "plan": f"/submissions/{again}/plan",
        "kernel": f"/submissions/{again}/kernels/0?text=ttir&line=11",
        "tasks": "/",
        "learn": "/learn",
        "hopper": "/learn/hopper?flops=1e12&bytes=1e9",
        "metrics": "/docs/metrics",
        "task": "/tasks/softmax",
        "matmul": "/tasks/matmul",
        "submissions": "/submissions",
        "queued": f"/submissions/{site.submit()}",
        "board": "/boards/softmax/H200",
        "standings": "/standings",
        "compare": f"/compare/{again}/{again}",
        "health": "/health",
        "docs": "/docs",
        "verdicts": "/docs/verdicts",
        **made,
    }


def _source(name: str) -> str:
    return samples.HOSTILE if name == "hostile" else samples.SOURCE


@pytest.mark.parametrize("width", _WIDTHS)
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_pages_are_readable(
    open_page: OpenPage, paths: dict[str, str], scheme: str, width: str
) -> None:
    page = open_page("/", color_scheme=scheme, viewport=_WIDTHS[width])
    for name, path in paths.items():
        page.goto(path)
        look(page, f"{name}-{scheme}-{width}")


def test_axe_finds_nothing_serious(open_page: OpenPage, paths: dict[str, str]) -> None:
    page = open_page("/")
    found = {}
    for name, path in paths.items():
        page.goto(path)
        found[name] = barriers(page)
    assert {name: some for name, some in found.items() if some} == {}


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_verdict_is_readable(open_page: OpenPage, scheme: str) -> None:
    page = open_page("/submissions", color_scheme=scheme)
    page.evaluate(
        """() => document.querySelector("main").innerHTML =
          [...document.querySelectorAll("select[name=verdict] option")].slice(1).map((o) =>
            `<span class="verdict verdict-${o.value}">${o.text}</span>
             <section class="answer verdict-${o.value}"><h2>${o.text}</h2>
             <p class="soft">next</p><a href="/">link</a></section>`).join("")"""
    )
    picture(page, f"every-verdict-{scheme}")
    assert_contrast(page, "every verdict")
