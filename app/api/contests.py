"""The routes about contests; those for admins say so."""

from collections.abc import Iterator
from typing import IO, Annotated

from fastapi import APIRouter, Query
from starlette.responses import PlainTextResponse, Response, StreamingResponse

from app.accounts.schemas import Number
from app.api.accounts import WithAccounts
from app.api.problems import problems
from app.audit import Act
from app.contests import exporting, finals, hosting, standings, taking_part
from app.contests.schemas import (
    Announcement,
    Answer,
    CloseRequest,
    ContestChange,
    ContestDetail,
    ContestPage,
    ContestRequest,
    Disqualification,
    Entrant,
    Finals,
    Joined,
    JoinRequest,
    Left,
    NewContest,
    NewInvite,
    Question,
    Standings,
    Words,
)
from app.schemas import ContestName

router = APIRouter(prefix="/api/v1/contests", responses=problems(401, 403, 404, 422, 503))
_CSV = {"content": {"text/csv": {"schema": {"type": "string"}}}}
_ZIP = {"content": {"application/zip": {"schema": {"type": "string", "format": "binary"}}}}
_CHUNK = 1 << 16


@router.get("")
def list_contests(
    service: WithAccounts,
    cursor: ContestName | None = None,
    limit: Annotated[int, Query(ge=1, le=200)] = 50,
) -> ContestPage:
    """Contests, the latest first; `next_cursor` continues the list."""
    return taking_part.list_contests(service, cursor, limit)


@router.post("", status_code=201, responses=problems(400, 409))
def create_contest(service: WithAccounts, wanted: ContestRequest) -> NewContest:
    """Make a contest, for admins; the code to join it with is shown this once."""
    return hosting.create(service, wanted)


@router.get("/{contest}")
def read_contest(service: WithAccounts, contest: str) -> ContestDetail:
    """A contest with its announcements, the questions you may see, and your part."""
    return taking_part.read_contest(service, contest)


@router.patch("/{contest}", responses=problems(400, 409))
def change_contest(service: WithAccounts, contest: str, wanted: ContestChange) -> ContestDetail:
    """Change what it says, for admins."""
    return hosting.change(service, contest, wanted)


@router.post("/{contest}/invite", responses=problems(409))
def renew_invite(service: WithAccounts, contest: str) -> NewInvite:
    """A new code to join with, for admins; the one before opens nothing any more."""
    return hosting.new_invite(service, contest)


@router.get("/{contest}/entrants")
def list_entrants(service: WithAccounts, contest: str) -> tuple[Entrant, ...]:
    """Who competes."""
    return taking_part.list_entrants(service, contest)


@router.post("/{contest}/entrants", status_code=201, responses=problems(400, 409))
def join(service: WithAccounts, contest: str, wanted: JoinRequest) -> Joined:
    """Take part: alone, with a new team, or in a team."""
    return taking_part.join(service, contest, wanted)


@router.post("/{contest}/leave", responses=problems(409))
def leave(service: WithAccounts, contest: str) -> Left:
    """Take part no more, before the end; one may come back."""
    return taking_part.leave(service, contest)


@router.put("/{contest}/entrants/{number}/disqualification", responses=problems(400, 409))
def disqualify(
    service: WithAccounts, contest: str, number: Number, wanted: Disqualification
) -> Entrant:
    """Take an entrant off the boards or, without a reason, put it back; for admins."""
    return hosting.disqualify(service, contest, number, wanted.reason)


@router.post("/{contest}/announcements", status_code=201, responses=problems(400))
def announce(service: WithAccounts, contest: str, wanted: Words) -> Announcement:
    """Tell everybody something, for admins."""
    return hosting.announce(service, contest, wanted.text)


@router.post("/{contest}/questions", status_code=201, responses=problems(400, 429))
def ask(service: WithAccounts, contest: str, wanted: Words) -> Question:
    """Ask the hosts, for those who take part."""
    return taking_part.ask(service, contest, wanted.text)


@router.put("/{contest}/questions/{number}/answer", responses=problems(400))
def answer(service: WithAccounts, contest: str, number: Number, wanted: Answer) -> Question:
    """Answer whoever asked, or everybody; for admins."""
    return hosting.answer(service, contest, number, wanted)


@router.get("/{contest}/standings")
def read_standings(service: WithAccounts, contest: str) -> Standings:
    """The board of each task and the places over all of them, with intervals."""
    return standings.standings(service, contest)


@router.get("/{contest}/standings.csv", response_class=Response, responses={200: _CSV})
def read_standings_csv(service: WithAccounts, contest: str) -> Response:
    """The same, a line for each entrant."""
    return PlainTextResponse(
        exporting.standings_csv(service, contest),
        media_type="text/csv",
        headers=_attached(f"{contest}.csv"),
    )


@router.get("/{contest}/sources.zip", response_class=StreamingResponse, responses={200: _ZIP})
def read_sources(service: WithAccounts, contest: str) -> Response:
    """The sources that stand on the boards: for admins, and for all once it is closed if the
    contest says so."""
    return StreamingResponse(
        _chunks(exporting.sources_zip(service, contest)),
        media_type="application/zip",
        headers=_attached(f"{contest}.zip"),
    )


@router.get("/{contest}/finals")
def read_finals(service: WithAccounts, contest: str) -> Finals:
    """How far the measuring after the end is, for admins."""
    return finals.finals_of(service, contest)


@router.post("/{contest}/finals", status_code=202, responses=problems(409, 413, 429))
def remeasure(service: WithAccounts, contest: str) -> Finals:
    """Measure the best of each task together where that is not done or under way, for admins."""
    return finals.remeasure(service, contest)


@router.post("/{contest}/close", responses=problems(400, 409))
def close(service: WithAccounts, contest: str, wanted: CloseRequest) -> Standings:
    """Store the final standings for good, for admins."""
    return finals.close(service, contest, unmeasured=wanted.unmeasured)


@router.get("/{contest}/audit")
def read_audit(
    service: WithAccounts,
    contest: str,
    after: Annotated[int, Query(ge=0, le=2**62)] = 0,
    limit: Annotated[int, Query(ge=1, le=1000)] = 200,
) -> tuple[Act, ...]:
    """What admins did, oldest first, for admins; `after` a number goes on from there."""
    return hosting.audit(service, contest, after, limit)


def _attached(name: str) -> dict[str, str]:
    return {"Content-Disposition": f'attachment; filename="{name}"'}


def _chunks(file: IO[bytes]) -> Iterator[bytes]:
    with file:
        while chunk := file.read(_CHUNK):
            yield chunk
