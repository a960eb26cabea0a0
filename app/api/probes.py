"""What machines ask of the service: `/metrics` for Prometheus, `/ready` for a load balancer."""

from typing import Annotated

from fastapi import APIRouter, Depends
from prometheus_client import CONTENT_TYPE_LATEST, generate_latest
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response

from app.access import api_service, service_of
from app.roles import Scope
from app.service import Service

router = APIRouter()


@router.get("/metrics", include_in_schema=False)
def read_metrics(request: Request, service: Annotated[Service, Depends(api_service)]) -> Response:
    """The state of the installation and the requests of this process, for Prometheus.

    Where there are accounts it takes a token with the scope `admin`.
    """
    service.caller.require(Scope.ADMIN)
    body = generate_latest(request.app.state.metrics.registry)
    return Response(body, media_type=CONTENT_TYPE_LATEST)


@router.get("/ready", include_in_schema=False)
def read_ready(request: Request) -> Response:
    """200 if this process can store submissions; otherwise 503: send requests to another one."""
    health = service_of(request).health()
    if health.status == "down":
        return PlainTextResponse("the database does not answer\n", 503)
    return PlainTextResponse("ready\n")
