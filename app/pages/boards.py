"""The ranking of a task on a device."""

from dataclasses import dataclass
from typing import Annotated

from fastapi import APIRouter
from pydantic import Field, StringConstraints
from starlette.requests import Request
from starlette.responses import Response

from app import clock, visibility
from app.pages.access import CurrentService
from app.pages.charts.progress import progress
from app.pages.queries import device_of, parsed
from app.pages.rendering import render
from app.schemas import Board, BoardEntry, BoardHistory, HouseEntry, Schema
from app.service import Service
from kernels.contract import DeviceName

router = APIRouter()
_FILTERS = {"days": "Judged within", "rows": "Of the first"}


class BoardFilter(Schema):
    """Which entries of a board are shown; their ranks stay those of the whole."""

    user: Annotated[str, StringConstraints(max_length=64)] = ""
    """Part of the name."""
    days: Annotated[int, Field(ge=1, le=3650)] | None = None
    """Judged within so many days."""
    rows: Annotated[int, Field(ge=1, le=1000)] = 100

    def fits(self, entry: BoardEntry) -> bool:
        """Whether to show it."""
        recent = self.days is None or (clock.now() - entry.finished_at).days < self.days
        return recent and self.user.casefold() in entry.user.casefold()


@dataclass(frozen=True)
class BoardView:
    """A board as a table: entries, and among them the house's."""

    board: Board
    history: BoardHistory
    entries: tuple[BoardEntry, ...]
    """Those that a filter leaves."""
    rows: tuple[BoardEntry | HouseEntry, ...]
    """The same with the house entry in its place."""
    open_to: str
    """Whose sources the caller may read here: `all`, `own` or `nobody`."""


def board_view(service: Service, task: str, device: DeviceName, wanted: BoardFilter) -> BoardView:
    """What the pages show of a board; NotFound, blocks on the database."""
    board = service.board(task, device, limit=wanted.rows)
    entries = tuple(filter(wanted.fits, board.entries))
    house = service.house_entry(task, device)
    rows: list[BoardEntry | HouseEntry] = list(entries)
    if house is not None and house.task_version == board.task_version:
        rows.insert(sum(entry.score <= house.score for entry in entries), house)
    return BoardView(
        board, service.board_history(task, device), entries, tuple(rows), _open_to(service, task)
    )


def _open_to(service: Service, task: str) -> str:
    with service.store.read() as session:
        if visibility.sees_all(session, service.settings.sources, service.caller, task):
            return "all"
    return "own" if service.caller.user else "nobody"


@router.get("/boards/{task}/{device}")
def show_board(
    request: Request,
    service: CurrentService,
    task: str,
    device: str,
    user: str = "",
    days: str = "",
    rows: str = "",
) -> Response:
    """The top of a board; the address holds the filters."""
    detail = service.task_detail(task)
    chosen = device_of(device, detail)
    fields = {"user": user.strip(), "days": days, "rows": rows}
    wanted = parsed(BoardFilter, {name: text for name, text in fields.items() if text}, _FILTERS)
    view = board_view(service, task, chosen, wanted)
    house = service.house_entry(task, chosen)
    return render(
        request,
        "board.html",
        task=detail,
        device=chosen,
        view=view,
        wanted=wanted,
        chart=progress(view.history, view.board.entries, house),
    )
