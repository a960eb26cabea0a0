"""The routes about reruns: measuring again, and looking at plans with tools."""

from typing import Annotated, Any

from anyio.to_thread import run_sync
from fastapi import APIRouter, Depends, Path, Query
from starlette.responses import Response

from app.access import api_service
from app.api.naming import Named
from app.api.problems import problems
from app.reruns import presenting, requests
from app.reruns.requests import Asked
from app.reruns.schemas import InspectRequest, RerunDetail, Sittings
from app.service import Service
from kernels.contract import DeviceName, Report
from kernels.contract.rerun import MOST_PLANS, MOST_ROUNDS, RerunKind

router = APIRouter(prefix="/api/v1", responses=problems(401, 403, 404, 409, 422, 503))

CurrentService = Annotated[Service, Depends(api_service)]
Wait = Annotated[float, Query(ge=0, le=60, description="Seconds to wait for its end.")]
_KNOWN: dict[int | str, dict[str, Any]] = {
    200: {"model": RerunDetail, "description": "The same is under way already."}
}


@router.post(
    "/submissions/{submission}/remeasure",
    status_code=202,
    responses={**_KNOWN, **problems(409, 429)},
)
async def remeasure(
    service: CurrentService, response: Response, submission: Named, wait: Wait = 0
) -> RerunDetail:
    """Measure an accepted submission once more, from its stored plan and with fresh inputs."""
    asked = await run_sync(requests.remeasure, service, submission)
    return await _answer(service, response, asked, wait)


@router.get("/submissions/{submission}/sittings")
def list_sittings(service: CurrentService, submission: Named) -> Sittings:
    """Everything that was measured of a submission, and the score that follows from it."""
    return presenting.sittings_of(service, submission)


@router.get("/submissions/{submission}/sittings/{number}")
def read_sitting(
    service: CurrentService, submission: Named, number: Annotated[int, Path(ge=0, le=10_000)]
) -> Report:
    """The whole report of one sitting; 0 is the one that the submission was judged by."""
    return presenting.sitting_report(service, submission, number)


@router.post(
    "/submissions/{submission}/inspections",
    status_code=202,
    responses={**_KNOWN, **problems(409, 429)},
)
async def inspect(
    service: CurrentService,
    response: Response,
    submission: Named,
    request: InspectRequest,
    wait: Wait = 0,
) -> RerunDetail:
    """Look at a submission's plan with compute-sanitizer or Nsight Compute."""
    kind = RerunKind(request.kind)
    asked = await run_sync(requests.inspect, service, submission, kind)
    return await _answer(service, response, asked, wait)


@router.get("/submissions/{submission}/reruns")
def list_reruns(service: CurrentService, submission: Named) -> tuple[RerunDetail, ...]:
    """The latest reruns of a submission, the newest first."""
    return presenting.reruns_of(service, submission)


@router.get("/reruns/{rerun}")
async def read_rerun(service: CurrentService, rerun: str, wait: Wait = 0) -> RerunDetail:
    """One rerun: where it is, and what an inspection found."""
    return await presenting.wait_for(service, rerun, wait)


@router.post(
    "/boards/{task}/{device}/remeasure",
    status_code=202,
    responses=problems(409, 413, 429),
)
async def remeasure_board(
    service: CurrentService,
    response: Response,
    task: str,
    device: DeviceName,
    top: Annotated[int, Query(ge=1, le=MOST_PLANS)] = 5,
    rounds: Annotated[int, Query(ge=1, le=MOST_ROUNDS)] = 3,
    wait: Wait = 0,
) -> RerunDetail:
    """Measure the top entries of a board together, in turns whose order is drawn; for admins."""
    asked = await run_sync(requests.remeasure_board, service, task, device, top, rounds)
    return await _answer(service, response, asked, wait)


async def _answer(service: Service, response: Response, asked: Asked, wait: float) -> RerunDetail:
    response.headers["Location"] = f"/api/v1/reruns/{asked.rerun.id}"
    if not asked.created:
        response.status_code = 200
    return await presenting.wait_for(service, asked.rerun.id, wait) if wait else asked.rerun
