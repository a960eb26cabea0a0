"""The one function that ranks over several tasks. docs/ranking.md defines it."""

from collections import Counter

from app import ranking
from app.errors import NotFound
from app.schemas import Overall, OverallEntry
from app.service import Service
from app.store import board
from kernels.contract import DeviceName


def standings(
    service: Service, device: DeviceName, track: str | None = None, limit: int = 100
) -> Overall:
    """The top over all tasks, or those of a course; NotFound for an unknown course."""
    names = _tasks(service, track)
    versions = {name: service.catalog[name].task.version for name in names}
    with service.store.read() as session:
        rows, total = board.points(session, device, versions, limit)
    ranks = ranking.ranks_of([(-row.high, -row.low) for row in rows])
    shared = Counter(ranks)
    return Overall(
        device=device,
        track=track,
        tasks=names,
        entries=tuple(
            OverallEntry(rank=rank, tied=shared[rank] > 1, **row._asdict())
            for rank, row in zip(ranks, rows, strict=True)
        ),
        total=total,
    )


def _tasks(service: Service, track: str | None) -> tuple[str, ...]:
    if track is None:
        return tuple(service.catalog)
    for known in service.catalog.tracks:
        if known.name == track:
            names = [step.task for part in known.parts for step in part.steps]
            return tuple(name for name in dict.fromkeys(names) if name in service.catalog)
    courses = ", ".join(known.name for known in service.catalog.tracks)
    raise NotFound(f"no course is called {track[:64]!r}", f"Choose one of: {courses}.")
