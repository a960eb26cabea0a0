"""The routes of those who look after the judge: worker hosts, and what is held."""

from typing import Annotated

from fastapi import APIRouter, Depends
from starlette.responses import Response

from app import draining
from app.access import api_service
from app.api.problems import problems
from app.draining import WorkerHost
from app.held import HeldSubmission, held_submissions
from app.service import Service

router = APIRouter(prefix="/api/v1", responses=problems(401, 403, 422, 503))

CurrentService = Annotated[Service, Depends(api_service)]


@router.get("/hosts")
def list_hosts(service: CurrentService) -> tuple[WorkerHost, ...]:
    """Machines with workers, for admins."""
    return draining.worker_hosts(service)


@router.put(
    "/hosts/{host}/drain", status_code=204, response_class=Response, responses=problems(404)
)
def drain_host(service: CurrentService, host: str) -> None:
    """Let a host's workers finish what they have and take no more, for admins."""
    draining.drain(service, host)


@router.delete(
    "/hosts/{host}/drain", status_code=204, response_class=Response, responses=problems(404)
)
def resume_host(service: CurrentService, host: str) -> None:
    """Let a host's workers take jobs again, for admins."""
    draining.resume(service, host)


@router.get("/held")
def list_held(service: CurrentService) -> tuple[HeldSubmission, ...]:
    """Submissions that wait for a person's judgement, with the evidence, for admins."""
    return held_submissions(service)
