"""Places over all tasks."""

from typing import Annotated

from fastapi import APIRouter
from pydantic import Field
from starlette.requests import Request
from starlette.responses import Response

from app.overall import standings
from app.overview import device_of
from app.pages.access import CurrentService
from app.pages.queries import parsed
from app.pages.rendering import render
from app.schemas import Schema
from kernels.contract import DeviceName

router = APIRouter()


class OverallFilter(Schema):
    """Which standings are shown."""

    device: DeviceName
    track: Annotated[str, Field(max_length=64)] | None = None
    rows: Annotated[int, Field(ge=1, le=1000)] = 100


@router.get("/standings")
def show_standings(
    request: Request, service: CurrentService, device: str = "", track: str = "", rows: str = ""
) -> Response:
    """Everybody's points on a device, over all tasks or a course."""
    fields = {"device": device or device_of(service), "track": track, "rows": rows}
    given = {name: text for name, text in fields.items() if text}
    wanted = parsed(OverallFilter, given, {"track": "Course", "rows": "Of the first"})
    return render(
        request,
        "overall.html",
        overall=standings(service, wanted.device, wanted.track, wanted.rows),
        wanted=wanted,
        tracks=service.tracks(),
        devices=tuple(DeviceName),
    )
