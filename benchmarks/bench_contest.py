"""How long a contest's standings take with 300 entrants and 30,000 accepted submissions.

python -m benchmarks.bench_contest
"""

import random
import statistics
import tempfile
import time
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

from sqlalchemy import insert, select

from app import clock
from app.accounts.callers import Caller, scopes_of
from app.contests.entering import row_of
from app.contests.schemas import Standings
from app.contests.standings import standings, worked_out
from app.contests.taking_part import read_contest
from app.main import assemble
from app.roles import Role
from app.service import Service
from app.settings import Settings
from app.store.account_tables import UserRow
from app.store.contest_tables import ContestRow, EntrantRow, EntryRow, MemberRow
from app.store.tables import StandingRow, SubmissionRow
from kernels.catalog import Catalog
from kernels.contract import HARNESS_VERSION, DeviceName, Stage, Verdict

ENTRANTS, EACH, ROUNDS = 300, 20, 15
TASKS = ("softmax", "matmul", "layer_norm", "dropout", "cross_entropy")
_NOW = clock.now()


def main() -> None:
    """Print the median of the CPU time of each question, on SQLite."""
    with tempfile.TemporaryDirectory() as folder:
        parts = assemble(Settings(data_dir=Path(folder), accounts="open"), Catalog())
        parts.store.migrate()
        _fill(parts.service)
        service = parts.service.on_behalf_of(Caller("u1", scopes_of(Role.PARTICIPANT)))
        print(f"{ENTRANTS} entrants, {ENTRANTS * EACH * len(TASKS):,} accepted submissions")
        _time("standings worked out anew", lambda: _anew(service).model_dump_json())
        _time("standings that were kept", lambda: standings(service, "cup").model_dump_json())
        _time("the contest's page", lambda: read_contest(service, "cup"))
        _time("submissions, nearly all sealed", service.list_submissions)
        parts.store.close()


def _anew(service: Service) -> Standings:
    with service.store.read() as session:
        return worked_out(service, session, row_of(session, "cup"), frozen=False)


def _time(what: str, ask: Callable[[], object]) -> None:
    taken = []
    for _ in range(ROUNDS):
        start = time.process_time()
        ask()
        taken.append(time.process_time() - start)
    print(f"{what}: {1000 * statistics.median(taken):.1f} ms")


def _fill(service: Service) -> None:
    users = [f"u{number}" for number in range(1, ENTRANTS + 1)]
    with service.store.write() as session:
        session.execute(insert(UserRow), [_user(name) for name in users])
        session.add(_contest())
        session.flush()
        session.execute(insert(EntrantRow), [_entrant(n, u) for n, u in enumerate(users, 1)])
        parts = [{"contest": "cup", "user": u, "entrant": n} for n, u in enumerate(users, 1)]
        session.execute(insert(MemberRow), parts)
        versions = {task: service.catalog[task].task.version for task in TASKS}
        rows = [_submission(u, t, v, n) for u in users for t, v in versions.items()
                for n in range(EACH)]  # fmt: skip
        session.execute(insert(SubmissionRow), rows)
        numbers = {u: n for n, u in enumerate(users, 1)}
        entries = [_entry(row, numbers[str(row["user"])]) for row in rows]
        session.execute(insert(EntryRow), entries)
        session.execute(
            insert(StandingRow), [_standing(row) for row in session.scalars(select(SubmissionRow))]
        )


def _user(name: str) -> dict[str, object]:
    limits = dict.fromkeys(("invite", "waiting_limit", "hourly_limit", "gpu_seconds_limit"))
    known = {"name": name, "password": "x", "role": Role.PARTICIPANT, "disabled": False}
    return {**known, "created_at": _NOW, **limits}


def _contest() -> ContestRow:
    return ContestRow(
        name="cup", title="Cup", description="", tasks=" ".join(TASKS), device=DeviceName.H200,
        zone="UTC", starts_at=_NOW - timedelta(hours=1), ends_at=_NOW + timedelta(hours=1),
        team_size=1, final_top=10, final_rounds=3, open_sources=False, created_at=_NOW,
    )  # fmt: skip


def _entrant(number: int, name: str) -> dict[str, object]:
    known = {"id": number, "contest": "cup", "name": name, "code": None}
    return {**known, "disqualified": "", "joined_at": _NOW}


def _submission(user: str, task: str, version: int, number: int) -> dict[str, object]:
    return {
        "id": f"{user}-{task}-{number}", "user": user, "task": task, "task_version": version,
        "device": DeviceName.H200, "measured": True, "entry": "solve", "stage": Stage.FINISHED,
        "attempt": 1, "verdict": Verdict.ACCEPTED, "reason": "", "score": random.uniform(10, 100),
        "created_at": _NOW, "finished_at": _NOW, "moved_at": 0.0, "body_sha256": "x",
        "source": "x",
    }  # fmt: skip


def _entry(row: dict[str, object], entrant: int) -> dict[str, object]:
    return {"submission": row["id"], "contest": "cup", "entrant": entrant, "at": _NOW}


def _standing(row: SubmissionRow) -> dict[str, object]:
    assert row.score is not None
    copied = ("task", "task_version", "device", "user", "score", "finished_at")
    return {
        "submission": row.number, "harness": HARNESS_VERSION, "sittings": 1, "held": "",
        "low": 0.998 * row.score, "high": 1.002 * row.score,
        **{name: getattr(row, name) for name in copied},
    }  # fmt: skip


if __name__ == "__main__":
    main()
