"""What can be taken away of a contest: standings as CSV, sources as zip."""

import csv
import io
import re
import zipfile
from tempfile import TemporaryFile
from typing import IO

from app.contests.entering import row_of
from app.contests.hosting import note
from app.contests.schemas import ContestBoard, Phase, Standings
from app.contests.standings import standings
from app.contests.taking_part import phase
from app.errors import Forbidden
from app.roles import Scope
from app.service import Service
from app.store import submissions

_DATE = (1980, 1, 1, 0, 0, 0)
"""The earliest that a zip can hold: the same standings give the same bytes."""
_TOTAL = ("rank", "entrant", "points", "low", "high")


def standings_csv(service: Service, contest: str) -> str:
    """A line for each entrant, as the caller may see it now; NotFound."""
    found = standings(service, contest)
    stream = io.StringIO()
    writer = csv.writer(stream)
    columns = [f"{b.task} {unit}" for b in found.boards for unit in ("points", "us", "low", "high")]
    writer.writerow((*_TOTAL, *columns, "not measured again"))
    for total in found.totals:
        fields = [getattr(total, name) for name in _TOTAL]
        for board in found.boards:
            fields += _cells(board, total.entrant, total.by_task.get(board.task))
        fields.append(" ".join(_unmeasured(found, total.entrant)))
        writer.writerow(fields)
    return stream.getvalue()


def sources_zip(service: Service, contest: str) -> IO[bytes]:
    """A file with the sources that stand on the boards, to be read and closed; NotFound.

    Forbidden for all but admins, unless the contest is closed and shows its sources.
    """
    service.caller.require(Scope.READ)
    with service.store.write() as session:
        row = row_of(session, contest)
        if service.caller.is_admin:
            note(service, session, contest, "sources", {})
        elif not (row.open_sources and phase(row) is Phase.CLOSED):
            raise Forbidden(
                f"the sources of {contest} are for its hosts",
                "Wait until it is closed." if row.open_sources else "Ask the hosts.",
            )
    return _packed(service, standings(service, contest))


def _cells(board: ContestBoard, entrant: str, points: float | None) -> list[object]:
    for entry in board.entries:
        if entry.user == entrant:
            return [points, entry.score, entry.low, entry.high]
    return ["", "", "", ""]


def _unmeasured(found: Standings, entrant: str) -> list[str]:
    """Tasks whose place was not measured again though it was to be."""
    return [
        board.task
        for board in found.boards
        for entry in board.entries
        if entry.user == entrant and entry.submission in found.unmeasured.get(board.task, ())
    ]


def _packed(service: Service, found: Standings) -> IO[bytes]:
    file = TemporaryFile()  # noqa: SIM115  (whoever reads it closes it)
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as packed:
        for board in found.boards:
            for entry in board.entries:
                name = f"{board.task}/{_plain(entry.user)}-{entry.submission}.py"
                with service.store.read() as session:
                    source = submissions.source(session, entry.submission) or ""
                information = zipfile.ZipInfo(name, _DATE)
                information.compress_type = zipfile.ZIP_DEFLATED
                packed.writestr(information, source)
    file.seek(0)
    return file


def _plain(name: str) -> str:
    """What no file system takes for anything but a name."""
    return re.sub(r"[^A-Za-z0-9_-]", "_", name)
