"""Every figure of a report is explained."""

import re

from app.settings import ROOT
from kernels.contract.rerun import RerunKind
from tests.pages import rerunning
from tests.pages.site import Site

_OBVIOUS = {"Case", "Cases", "Kernel", "Verdict", "Case and kernel", "µs here"}


def test_every_heading_of_figures_is_explained(site: Site) -> None:
    rerunning.offer(site, memcheck="", racecheck="", profile="")
    submission = rerunning.accepted(site, scale=1.0)
    rerunning.look(site, submission, RerunKind.PROFILE, rerunning.PROFILE)
    page = site.html(f"/submissions/{submission}")
    known = (ROOT / "docs" / "metrics.md").read_text(encoding="utf-8")
    headings = set()
    for name in ("Benchmarks", "Inside the benchmarks", "Tests", "Kernels", "Profile"):
        table = page.split(f'role="region" aria-label="{name}"')[1].split("</thead>")[0]
        headings |= set(re.findall(r"<th[^>]*>([^<]+)</th>", table))
    assert len(headings) > 20
    for heading in headings - _OBVIOUS:
        assert f"### {heading}\n" in known, heading
    assert 'href="/docs/metrics#benchmarks"' in page
