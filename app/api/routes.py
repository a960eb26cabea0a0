"""The routes of the API."""

from collections.abc import AsyncIterator
from typing import Annotated, Any

from anyio.to_thread import run_sync
from fastapi import APIRouter, Depends, Header, Query
from fastapi.sse import EventSourceResponse, ServerSentEvent
from starlette.responses import PlainTextResponse, Response

from app.access import api_service, api_service_for_all
from app.api.naming import Named
from app.api.parsing import submit_request
from app.api.problems import problems
from app.overall import standings
from app.schemas import (
    Board,
    BoardHistory,
    Cursor,
    Health,
    HouseEntry,
    HouseRecord,
    IdempotencyKey,
    Overall,
    SubmissionDetail,
    SubmissionFilter,
    SubmissionPage,
    SubmitRequest,
    TaskDetail,
    TaskSummary,
)
from app.service import Service
from kernels.contract import DeviceName, Track

_MOST_WAIT_SECONDS = 60


router = APIRouter(prefix="/api/v1", responses=problems(401, 403, 422, 503))

CurrentService = Annotated[Service, Depends(api_service)]
Wait = Annotated[
    float,
    Query(ge=0, le=_MOST_WAIT_SECONDS, description="Seconds to wait for the verdict."),
]

_BINARY: dict[str, Any] = {
    "content": {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}}
}
_EVENT_STREAM: dict[str, Any] = {"content": {"text/event-stream": {"schema": {"type": "string"}}}}
_SUBMISSION_BODY = {
    "required": True,
    "content": {
        "application/json": {
            "schema": SubmitRequest.model_json_schema(ref_template="#/components/schemas/{model}")
        },
        "text/x-python": {"schema": {"type": "string"}},
    },
}


@router.get("/tracks")
def list_tracks(service: CurrentService) -> tuple[Track, ...]:
    """Courses: tasks in order, with what each teaches."""
    return service.tracks()


@router.get("/records")
def list_records(service: CurrentService) -> tuple[HouseEntry, ...]:
    """House entries: what the best solutions that come with the project reached."""
    return service.house_entries()


@router.get("/records/{task}/{device}", responses=problems(404))
def read_record(service: CurrentService, task: str, device: DeviceName) -> HouseRecord:
    """A house entry with its report."""
    return service.house_record(task, device)


@router.get("/tasks")
def list_tasks(service: CurrentService) -> tuple[TaskSummary, ...]:
    """All tasks by name."""
    return service.list_tasks()


@router.get("/tasks/{name}", responses=problems(404))
def read_task(service: CurrentService, name: str) -> TaskDetail:
    """One task: statement, signature, visible cases, cost model and starter."""
    return service.task_detail(name)


@router.post(
    "/submissions",
    status_code=202,
    responses={
        200: {"model": SubmissionDetail, "description": "The idempotency key was used before."},
        **problems(400, 403, 404, 408, 409, 413, 415, 429),
    },
    openapi_extra={"requestBody": _SUBMISSION_BODY},
)
async def submit(
    response: Response,
    service: CurrentService,
    request: Annotated[SubmitRequest, Depends(submit_request)],
    idempotency_key: Annotated[IdempotencyKey | None, Header()] = None,
    wait: Wait = 0,
) -> SubmissionDetail:
    """Submit source for a task.

    As JSON; as a form with the same fields, `source` perhaps a file; or as the bare source with
    `task`, `device` and `entry` in the address. A repeated `Idempotency-Key` answers with the
    submission that was made with it.
    """
    submitted = await run_sync(lambda: service.submit(request, idempotency_key=idempotency_key))
    submission = submitted.submission
    response.headers["Location"] = f"/api/v1/submissions/{submission.id}"
    if not submitted.created:
        response.status_code = 200
    return await service.wait(submission.id, wait) if wait else submission


@router.get("/submissions")
def list_submissions(
    service: CurrentService,
    wanted: Annotated[SubmissionFilter, Depends()],
    cursor: Cursor | None = None,
    limit: Annotated[int, Query(ge=1, le=200)] = 50,
) -> SubmissionPage:
    """Submissions, newest first; `next_cursor` continues the list."""
    return service.list_submissions(wanted, cursor=cursor, limit=limit)


@router.get("/submissions/{submission}", responses=problems(404, 409))
async def read_submission(
    service: CurrentService, submission: Named, wait: Wait = 0
) -> SubmissionDetail:
    """One submission with its log and, once finished, its report."""
    return await service.wait(submission, wait)


@router.post("/submissions/{submission}/cancel", responses=problems(403, 404, 409))
def cancel_submission(service: CurrentService, submission: Named) -> SubmissionDetail:
    """End a submission that is not finished: it gets the verdict `cancelled`.

    A finished one stays as it is, so that repeating is harmless.
    """
    return service.cancel(submission)


@router.get(
    "/submissions/{submission}/source",
    responses=problems(404, 409),
    response_class=PlainTextResponse,
)
def read_source(service: CurrentService, submission: Named) -> Response:
    """The source as it was submitted."""
    return PlainTextResponse(
        service.submission_source(submission), headers={"X-Content-Type-Options": "nosniff"}
    )


@router.get(
    "/submissions/{submission}/plan",
    responses={200: _BINARY, **problems(404, 409)},
    response_class=Response,
)
def read_plan(service: CurrentService, submission: Named) -> Response:
    """The packed launch plan, which can be measured again without building."""
    plan = service.submission_plan(submission)
    name = f'attachment; filename="{submission}.bundle"'
    return Response(
        plan, media_type="application/octet-stream", headers={"Content-Disposition": name}
    )


async def _existing(service: CurrentService, submission: Named) -> str:
    return (await run_sync(service.submission_detail, submission)).id


@router.get(
    "/submissions/{submission}/events",
    responses={200: _EVENT_STREAM, **problems(404, 409)},
    response_class=EventSourceResponse,
)
async def follow_submission(
    service: CurrentService,
    submission: Annotated[str, Depends(_existing)],
    last_event_id: Annotated[str | None, Header(pattern=r"^[0-9]{1,18}$")] = None,
) -> AsyncIterator[ServerSentEvent]:
    """A `stage` event for each line of the log, then one `finished` with the submission."""
    last = int(last_event_id or 0)
    async for detail in service.changes(submission):
        for entry in detail.stages:
            if entry.id > last:
                last = entry.id
                yield ServerSentEvent(event="stage", id=str(last), raw_data=entry.model_dump_json())
        if detail.report is not None:
            yield ServerSentEvent(event="finished", raw_data=detail.model_dump_json())


@router.get(
    "/boards/{task}/{device}",
    response_model=Board,
    responses={304: {"description": "It is as `If-None-Match` says."}, **problems(404)},
)
def read_board(
    service: CurrentService,
    task: str,
    device: DeviceName,
    limit: Annotated[int, Query(ge=1, le=1000)] = 100,
    if_none_match: Annotated[str | None, Header()] = None,
) -> Response:
    """The ranking of a task on a device: each user's best accepted submission."""
    found = service.rendered_board(task, device, limit=limit)
    headers = {"ETag": found.tag, "Cache-Control": "private, no-cache"}
    if if_none_match and found.tag in if_none_match:
        return Response(status_code=304, headers=headers)
    return Response(found.body, media_type="application/json", headers=headers)


@router.get("/boards/{task}/{device}/history", responses=problems(404))
def read_board_history(service: CurrentService, task: str, device: DeviceName) -> BoardHistory:
    """How the best time of a board came down, and what the hardware's datasheet would allow."""
    return service.board_history(task, device)


@router.get("/standings/{device}", responses=problems(404))
def read_standings(
    service: CurrentService,
    device: DeviceName,
    track: Annotated[str | None, Query(max_length=64)] = None,
    limit: Annotated[int, Query(ge=1, le=1000)] = 100,
) -> Overall:
    """Places over all tasks on a device, or over those of a course."""
    return standings(service, device, track, limit)


@router.get("/health", responses={503: {"model": Health}})
def read_health(
    service: Annotated[Service, Depends(api_service_for_all)], response: Response
) -> Health:
    """The state of database, Redis, workers and queues; 503 when nothing can be stored.

    Everybody may ask; workers and queues are shown to those who may read.
    """
    health = service.health()
    if health.status == "down":
        response.status_code = 503
    return health
