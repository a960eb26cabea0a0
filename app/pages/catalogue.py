"""The first page: all tasks as cards; the address holds how they are filtered."""

from fastapi import APIRouter
from pydantic import ValidationError
from starlette.requests import Request
from starlette.responses import Response

from app.errors import Invalid
from app.overview import TaskFilter, cards, device_of, grouped
from app.pages.access import CurrentService
from app.pages.rendering import render

router = APIRouter()


@router.get("/")
def list_tasks(
    request: Request,
    service: CurrentService,
    track: str | None = None,
    tag: str | None = None,
    difficulty: str | None = None,
    state: str | None = None,
    group: str | None = None,
) -> Response:
    """All tasks, in the order of the courses or by difficulty."""
    wanted = _filter_of(track=track, tag=tag, difficulty=difficulty, state=state, group=group)
    device, tracks = device_of(service), service.tracks()
    found = cards(service, device)
    return render(
        request,
        "tasks.html",
        groups=grouped(found, tracks, wanted),
        wanted=wanted,
        filtered=wanted != TaskFilter(group=wanted.group),
        tags=sorted({tag for card in found.values() for tag in card.task.tags}),
        tracks=tracks,
        device=device,
        total=len(found),
    )


def _filter_of(**fields: str | None) -> TaskFilter:
    try:
        return TaskFilter.model_validate({k: v for k, v in fields.items() if v})
    except ValidationError as error:
        names = ", ".join(sorted({str(e["loc"][0]) for e in error.errors()}))
        raise Invalid(
            f"the tasks cannot be filtered by this {names}",
            "Open the first page, then choose from what the form offers.",
        ) from None
