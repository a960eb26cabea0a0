"""Measuring again and looking deeper, on a submission's page."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Literal

from fastapi import APIRouter, Form
from starlette.responses import RedirectResponse, Response

from app.pages.access import CurrentService
from app.reruns import presenting, requests
from app.reruns.schemas import RerunDetail, Sittings
from app.schemas import SubmissionDetail
from app.service import Service
from kernels.contract import Report
from kernels.contract.rerun import RerunKind, RerunState

router = APIRouter()

_OPEN = (RerunState.QUEUED, RerunState.RUNNING)


@dataclass(frozen=True)
class Look:
    """One way of looking deeper, and how it stands."""

    kind: RerunKind
    title: str
    meaning: str
    last: RerunDetail | None
    """The latest; None if it was never asked for."""
    refusal: str
    """Why it cannot be had now; empty if it can."""

    @property
    def open(self) -> bool:
        """Whether it is under way."""
        return self.last is not None and self.last.state in _OPEN


@dataclass(frozen=True)
class Again:
    """What was done with a submission's plan after it was judged, and what can be."""

    sittings: Sittings
    measuring: RerunDetail | None
    """The measurement that is under way."""
    failed: RerunDetail | None
    """The last measurement, if it failed."""
    looks: tuple[Look, ...]
    may_ask: bool
    """Whether the caller may ask for more."""

    @property
    def open(self) -> bool:
        """Whether something is under way."""
        return self.measuring is not None or any(look.open for look in self.looks)


_WORDS: Mapping[RerunKind, tuple[str, str]] = {
    RerunKind.MEMCHECK: ("Memory", "Every access of the test cases is looked at."),
    RerunKind.RACECHECK: ("Races", "Shared memory is watched in the test cases."),
    RerunKind.PROFILE: ("Profile", "The GPU's counters are read in the benchmark cases."),
}


@router.post("/submissions/{submission}/remeasure")
def remeasure(service: CurrentService, submission: str) -> Response:
    """Measure once more, and back to the page."""
    requests.remeasure(service, submission)
    return RedirectResponse(f"/submissions/{submission}#again", 303)


@router.post("/submissions/{submission}/inspect")
def inspect(
    service: CurrentService,
    submission: str,
    kind: Annotated[Literal["memcheck", "racecheck", "profile"], Form()],
) -> Response:
    """Look at the plan, and back to the page."""
    requests.inspect(service, submission, RerunKind(kind))
    return RedirectResponse(f"/submissions/{submission}#deeper", 303)


def again_of(service: Service, detail: SubmissionDetail, report: Report) -> Again | None:
    """What the page shows of it; None for a submission that nothing can be done with."""
    if report.verdict not in requests.LOOKED_AT or not detail.measured:
        return None
    known = presenting.reruns_of(service, detail.id)
    measured = [rerun for rerun in known if rerun.kind is RerunKind.MEASURE][:1]
    sees = detail.source_visible and report.rebuilt == "identical"
    caller = service.caller
    return Again(
        sittings=presenting.sittings_of(service, detail.id),
        measuring=next((rerun for rerun in measured if rerun.state in _OPEN), None),
        failed=next((rerun for rerun in measured if rerun.state is RerunState.FAILED), None),
        looks=_looks(service, detail, known) if sees else (),
        may_ask=caller.is_admin or caller.user == detail.user,
    )


def _looks(
    service: Service, detail: SubmissionDetail, known: tuple[RerunDetail, ...]
) -> tuple[Look, ...]:
    refusals = requests.offers(service, detail.device)
    return tuple(
        Look(
            kind=kind,
            title=title,
            meaning=meaning,
            last=next((rerun for rerun in known if rerun.kind is kind), None),
            refusal=refusals[kind],
        )
        for kind, (title, meaning) in _WORDS.items()
    )
