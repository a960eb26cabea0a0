"""Points over several tasks."""

import pytest
from sqlalchemy import insert

from app.errors import NotFound
from app.main import Parts
from app.overall import standings
from app.store.tables import BoardRow
from kernels.contract import DEVICES, HARNESS_VERSION, DeviceName
from tests.app.judging import beat, judge


def test_points_are_shares_of_the_best_over_all_tasks(parts: Parts) -> None:
    beat(parts.connection, name="m", role="measure", device="H200")
    for user, score in (("ada", 10.0), ("bob", 20.0), ("cyd", 20.02)):
        judge(parts, user, score, spread=0.001)
    _on_another_board(parts, "matmul", {"bob": 30.0, "dan": 40.0})
    service = parts.service
    found = standings(service, DeviceName.H200)
    places = [(e.rank, e.user, round(e.points, 3), e.solved, e.firsts) for e in found.entries]
    assert places == [
        (1, "bob", 1.5, 2, 1),
        (2, "ada", 1.0, 1, 1),
        (3, "dan", 0.75, 1, 0),
        (4, "cyd", 0.5, 1, 0),
    ]
    assert found.total == 4
    assert all(entry.low <= entry.points <= entry.high for entry in found.entries)
    top = standings(service, DeviceName.H200, limit=2)
    assert (top.entries, top.total) == (found.entries[:2], 4)
    assert not standings(service, DeviceName.H100).entries
    for track in service.tracks():
        counted = standings(service, DeviceName.H200, track.name)
        assert set(counted.tasks) <= set(found.tasks)
    with pytest.raises(NotFound, match="no course"):
        standings(service, DeviceName.H200, "nope")


def test_a_board_tells_how_its_record_came_down(parts: Parts) -> None:
    beat(parts.connection, name="m", role="measure", device="H200")
    for user, score in (("ada", 10.0), ("bob", 12.0), ("ada", 8.0), ("cyd", 8.0), ("bob", 7.0)):
        judge(parts, user, score)
    service = parts.service
    history = service.board_history("softmax", DeviceName.H200)
    assert [(r.user, r.score) for r in history.records] == [("ada", 10), ("ada", 8), ("bob", 7)]
    judge(parts, "cyd", 6.0)
    assert service.board_history("softmax", DeviceName.H200).records[-1].user == "cyd"

    task = service.catalog["softmax"].task
    bytes_ = [task.bytes(case) for case in task.cases if case.kind == "benchmark"]
    floors = [1e6 * count / DEVICES[DeviceName.H200].bandwidth for count in bytes_]
    assert history.floor is not None
    assert min(floors) < history.floor < max(floors)


def _on_another_board(parts: Parts, task: str, scores: dict[str, float]) -> None:
    entry = parts.service.board("softmax", DeviceName.H200).entries[0]
    version = parts.service.catalog[task].task.version
    rows = [
        {
            "task": task,
            "task_version": version,
            "device": DeviceName.H200,
            "harness": HARNESS_VERSION,
            "user": user,
            "submission": entry.submission,
            "score": score,
            "low": score,
            "high": score,
            "sittings": 1,
            "finished_at": entry.finished_at,
        }
        for user, score in scores.items()
    ]
    with parts.store.write() as session:
        session.execute(insert(BoardRow), rows)
