"""What admins see of the judge itself: queues, workers, and what is held."""

from typing import Annotated

from fastapi import APIRouter, Form
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from app import draining
from app.errors import ServiceError, Unavailable
from app.held import held_submissions
from app.pages.access import CurrentService
from app.pages.rendering import render

router = APIRouter(prefix="/admin/judge")
Host = Annotated[str, Form(max_length=255)]


@router.get("")
def show_judge(request: Request, service: CurrentService) -> Response:
    """Queues, worker hosts and held submissions."""
    problem: ServiceError | None = None
    hosts: tuple[draining.WorkerHost, ...] = ()
    try:
        hosts = draining.worker_hosts(service)
    except Unavailable as error:  # what is held can still be read
        problem = error
    return render(
        request,
        "admin_judge.html",
        hosts=hosts,
        held=held_submissions(service),
        problem=problem.problem if problem else None,
    )


@router.post("/drain")
def drain(service: CurrentService, host: Host = "") -> Response:
    """Let a host's workers take no more jobs."""
    draining.drain(service, host)
    return RedirectResponse("/admin/judge#workers", 303)


@router.post("/resume")
def resume(service: CurrentService, host: Host = "") -> Response:
    """Let them take jobs again."""
    draining.resume(service, host)
    return RedirectResponse("/admin/judge#workers", 303)
