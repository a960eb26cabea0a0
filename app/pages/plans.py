"""A submission's launch plan and the texts of its kernels, for those who may see the source."""

from dataclasses import dataclass
from typing import Annotated

from fastapi import APIRouter, Path
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response

from app.errors import NotFound
from app.pages import compiled
from app.pages.access import CurrentService
from app.pages.listing import MOST_LINES, lines
from app.pages.plan_view import case_view, uses
from app.pages.rendering import render
from app.schemas import SubmissionDetail
from app.service import Service
from kernels.contract import Bundle, PlanRefused
from kernels.contract.plan import CasePlan, Kernel, TextKind

router = APIRouter()
Number = Annotated[int, Path(ge=0, le=9999)]


@dataclass(frozen=True)
class Opened:
    """A submission with its plan."""

    detail: SubmissionDetail
    bundle: Bundle

    @property
    def kernels(self) -> dict[str, Kernel]:
        """By digest of the cubin, in the order of their numbers."""
        return dict(sorted(self.bundle.plan.kernels.items()))


@router.get("/submissions/{submission}/plan")
def show_plan(
    request: Request, service: CurrentService, submission: str, case: str | None = None
) -> Response:
    """The launches of one case with their arguments and shares of time, and all kernels."""
    opened = _open(service, submission)
    cases = _shown_cases(service, opened)
    chosen = next((found for found in cases if found.case == case), None)
    if case and chosen is None:
        raise NotFound(f"the plan has no case {case[:64]!r}", "Choose one on the plan's page.")
    if chosen is None and cases:
        chosen = next((c for c in cases if c.case in _benchmarks(opened.detail)), cases[0])
    return render(
        request,
        "plan.html",
        detail=opened.detail,
        plan=opened.bundle.plan,
        kernels=opened.kernels,
        uses=uses(cases),
        numbers={sha: number for number, sha in enumerate(opened.kernels)},
        cases=[found.case for found in cases],
        hidden=len(opened.bundle.plan.cases) - len(cases),
        view=case_view(chosen, opened.bundle.plan, opened.detail.report) if chosen else None,
    )


@router.get("/submissions/{submission}/kernels/{number}")
def show_kernel(
    request: Request,
    service: CurrentService,
    submission: str,
    number: Number,
    text: str | None = None,
    line: int | None = None,
) -> Response:
    """The source beside one of a kernel's texts; `line` marks what comes from a line."""
    opened = _open(service, submission)
    kernel = _kernel(opened, number)
    kinds = [kind for kind in compiled.KINDS if kind in kernel.texts]
    kind = _kind(text, kinds) if text or kinds else None
    shown = compiled.arranged(kind, compiled.text_of(opened.bundle, kernel, kind)) if kind else None
    source = lines(service.submission_source(submission))
    return render(
        request,
        "kernel.html",
        detail=opened.detail,
        number=number,
        kernel=kernel,
        used=uses(_shown_cases(service, opened)).get(list(opened.kernels)[number]),
        kinds={kind: compiled.KINDS[kind] for kind in kinds},
        kind=kind,
        shown=shown,
        source=source if len(source) <= MOST_LINES else None,
        chosen=line,
    )


@router.get("/submissions/{submission}/kernels/{number}/{kind}.txt")
def read_text(service: CurrentService, submission: str, number: Number, kind: str) -> Response:
    """One text as the compiler wrote it."""
    return kernel_text(service, submission, number, kind)


def kernel_text(service: Service, submission: str, number: int, kind: str) -> Response:
    """A kernel's text for whoever may see the source; NotFound, Forbidden."""
    opened = _open(service, submission)
    kernel = _kernel(opened, number)
    text = compiled.text_of(opened.bundle, kernel, _kind(kind, list(kernel.texts)))
    return PlainTextResponse(text, headers={"X-Content-Type-Options": "nosniff"})


def _open(service: Service, submission: str) -> Opened:
    try:
        bundle = Bundle.unpack(service.submission_plan(submission))
    except PlanRefused:
        raise NotFound(
            f"the launch plan of {submission[:64]} cannot be read by this version",
            "Submit it again.",
        ) from None
    return Opened(service.submission_detail(submission), bundle)


def _shown_cases(service: Service, opened: Opened) -> list[CasePlan]:
    hidden = service.hidden(opened.detail.task).shown_as
    return [found for found in opened.bundle.plan.cases if found.case not in hidden]


def _kernel(opened: Opened, number: int) -> Kernel:
    kernels = list(opened.kernels.values())
    if number >= len(kernels):
        raise NotFound(f"the plan has no kernel {number}", "Choose one on the plan's page.")
    return kernels[number]


def _kind(text: str | None, kinds: list[TextKind]) -> TextKind:
    if text is None:
        return "ptx" if "ptx" in kinds else kinds[0]
    for kind in kinds:
        if kind == text:
            return kind
    known = ", ".join(kinds) or "none"
    raise NotFound(f"the kernel has no text {text[:40]!r}", f"It has {known}.")


def _benchmarks(detail: SubmissionDetail) -> set[str]:
    return (
        {c.case for c in detail.report.cases if c.kind == "benchmark"} if detail.report else set()
    )
