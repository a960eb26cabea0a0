"""The list of submissions, and one submission from queue to report."""

from collections.abc import AsyncIterator
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Path
from fastapi.sse import EventSourceResponse, ServerSentEvent
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from app.contests.taking_part import list_contests, made_for
from app.pages.access import CurrentService
from app.pages.queries import filter_of, parsed_cursor
from app.pages.rendering import fragment, render
from app.pages.report import ReportView, view_of
from app.rejudging import rejudge
from app.schemas import SubmissionDetail
from app.service import Service
from kernels.contract import DeviceName, Stage, Verdict

router = APIRouter()


@router.get("/submissions")
def list_submissions(
    request: Request,
    service: CurrentService,
    task: str | None = None,
    device: str | None = None,
    verdict: str | None = None,
    stage: str | None = None,
    user: str | None = None,
    contest: str | None = None,
    cursor: str | None = None,
) -> Response:
    """Submissions, newest first; the address holds the filters."""
    wanted = filter_of(
        task=task, device=device, verdict=verdict, stage=stage, user=user, contest=contest
    )
    return render(
        request,
        "submissions.html",
        page=service.list_submissions(wanted, cursor=parsed_cursor(cursor), limit=50),
        wanted=wanted,
        tasks=service.list_tasks(),
        devices=tuple(DeviceName),
        verdicts=tuple(Verdict),
        stages=tuple(Stage),
        contests=list_contests(service, limit=200).items if service.settings.has_accounts else (),
    )


@router.get("/submissions/{submission}")
def show_submission(request: Request, service: CurrentService, submission: str) -> Response:
    """One submission; while it is unfinished the page follows its stages."""
    detail = service.submission_detail(submission)
    # Going back, browsers show what they kept: the page as it was while this was judged.
    headers = None if detail.stage is Stage.FINISHED else {"Cache-Control": "no-store"}
    return render(
        request, "submission.html", headers=headers, whole_page=True, **_shown(service, detail)
    )


@router.post("/submissions/{submission}/cancel")
def cancel_submission(service: CurrentService, submission: str) -> Response:
    """End a submission that is not finished."""
    return RedirectResponse(f"/submissions/{service.cancel(submission).id}", 303)


@router.post("/submissions/{submission}/rejudge")
def judge_again(service: CurrentService, submission: str) -> Response:
    """Judge its source again, as a new submission."""
    return RedirectResponse(f"/submissions/{rejudge(service, submission).id}", 303)


async def _existing(service: CurrentService, submission: Annotated[str, Path()]) -> str:
    """The id, once it is known that the stream will not begin with an error."""
    return (await run_in_threadpool(service.submission_detail, submission)).id


@router.get("/submissions/{submission}/live", response_class=EventSourceResponse)
async def follow_submission(
    service: CurrentService, submission: Annotated[str, Depends(_existing)]
) -> AsyncIterator[ServerSentEvent]:
    """The inner part of the page after each change; `done` when nothing will follow."""
    finished = False
    async for detail in service.changes(submission):
        html = await run_in_threadpool(_inner, service, detail)
        yield ServerSentEvent(raw_data=html)
        finished = detail.stage is Stage.FINISHED
    if finished:  # otherwise this process is about to end, and the page connects anew
        yield ServerSentEvent(event="done", raw_data="")


def _inner(service: Service, detail: SubmissionDetail) -> str:
    return fragment(service, "_submission.html", whole_page=False, **_shown(service, detail))


def _shown(service: Service, detail: SubmissionDetail) -> dict[str, Any]:
    contest = made_for(service, detail.id)
    return {"detail": detail, "view": _view(service, detail), "contest": contest}


def _view(service: Service, detail: SubmissionDetail) -> ReportView | None:
    return None if detail.report is None else view_of(service, detail, detail.report)
