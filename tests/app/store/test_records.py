"""The line of a board's records, against one found by looking at every standing."""

import random
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy.orm import Session

from app.store import Store, board, submissions
from app.store.board import BoardName
from app.store.submissions import Origin
from app.store.tables import StandingRow
from kernels.contract import HARNESS_VERSION, DeviceName
from tests.app.judging import submission

NAME = BoardName("softmax", 1, DeviceName.H200)
START = datetime(2026, 11, 30, tzinfo=UTC)


@pytest.fixture
def store(database_url: str) -> Iterator[Store]:
    store = Store(database_url)
    store.migrate()
    yield store
    store.close()


def test_records_are_what_was_faster_than_all_before(store: Store) -> None:
    chance = random.Random(7)
    with store.write() as session:
        rows = [_standing(session, n, chance) for n in range(80)]
        session.add_all(rows)
        expected, best = [], 1e9
        for row in sorted(rows, key=lambda row: (row.finished_at, row.submission)):
            if row.harness == HARNESS_VERSION and not row.held and row.score < best:
                best = row.score
                expected.append(best)
    with store.read() as session:
        found = [record.score for record in board.records(session, NAME, 200)]
        assert found == expected
        assert len(found) > 4
        assert board.records(session, NAME, 3) == board.records(session, NAME, 200)[-3:]
        assert board.records(session, NAME._replace(task="matmul"), 200) == []


def _standing(session: Session, number: int, chance: random.Random) -> StandingRow:
    """Some are held, some of another clock; several are judged at once, or equally fast."""
    given = submission().model_copy(update={"id": f"s{number}"})
    row = submissions.insert(session, given, Origin("ada", None, ""))
    seconds = chance.randint(0, 40)
    score = float(chance.randint(100 - 2 * seconds, 160 - 2 * seconds))
    return StandingRow(
        submission=row.number,
        task="softmax",
        task_version=1,
        device=DeviceName.H200,
        harness=HARNESS_VERSION - (chance.random() < 0.2),
        user="ada",
        score=score,
        low=score,
        high=score,
        sittings=1,
        held="slower again" if chance.random() < 0.2 else "",
        finished_at=START + timedelta(seconds=seconds),
    )
