"""The ranking of a task on a device."""

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from app.pages.access import CurrentService
from app.pages.queries import device_of
from app.pages.rendering import render

router = APIRouter()


@router.get("/boards/{task}/{device}")
def show_board(request: Request, service: CurrentService, task: str, device: str) -> Response:
    """The top of a board."""
    detail = service.task_detail(task)
    chosen = device_of(device, detail)
    board = service.board(task, chosen, limit=500)
    house = service.house_entry(task, chosen)
    return render(request, "board.html", task=detail, device=chosen, board=board, house=house)
