"""Boards: who is first, who is level, and that a board shows each user once."""

from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.main import Parts
from app.ranking import rank
from app.service import Service
from app.store.board import Standing
from kernels.contract import HARNESS_VERSION, DeviceName, Verdict
from tests.app.judging import beat, consume, judge, payload, publisher, report, submit


@pytest.fixture
def measurer(parts: Parts) -> None:
    """A worker that measures on an H200."""
    beat(parts.connection, name="m", role="measure", device="H200")


def ranks(service: Service) -> list[tuple[int, str, bool]]:
    board = service.board("softmax", DeviceName.H200)
    return [(entry.rank, entry.user, entry.tied) for entry in board.entries]


def test_an_empty_board(parts: Parts) -> None:
    board = parts.service.board("softmax", DeviceName.H200)
    assert (board.entries, board.total) == ((), 0)


def test_each_user_stands_with_the_best_submission(measurer: None, parts: Parts) -> None:
    judge(parts, "ada", 12)
    best = judge(parts, "ada", 10)
    judge(parts, "ada", 11)
    judge(parts, "bob", 20)
    board = parts.service.board("softmax", DeviceName.H200)
    first = board.entries[0]
    assert (first.user, first.score, first.submission) == ("ada", 10, best.id)
    assert [entry.behind for entry in board.entries] == [1, 2]
    assert board.total == 2


def test_overlapping_intervals_share_a_rank(measurer: None, parts: Parts) -> None:
    judge(parts, "ada", 10.0, spread=0.01)
    judge(parts, "bob", 10.1, spread=0.01)
    judge(parts, "cyd", 11.0, spread=0.01)
    assert ranks(parts.service) == [(1, "ada", True), (1, "bob", True), (3, "cyd", False)]


def test_a_chain_of_overlaps_does_not_tie_its_ends(measurer: None, parts: Parts) -> None:
    """Bob overlaps both neighbours, but one entry is surely faster than Cyd: Ada."""
    judge(parts, "ada", 10.0, spread=0.01)
    judge(parts, "bob", 10.15, spread=0.01)
    judge(parts, "cyd", 10.3, spread=0.01)
    assert ranks(parts.service) == [(1, "ada", True), (1, "bob", True), (2, "cyd", False)]


def standings(*ends: tuple[float, float, float]) -> list[Standing]:
    """Score, low and high of each, in the order of a board."""
    return [
        Standing(f"u{index}", f"s{index}", *place, sittings=1, finished_at=datetime.now(UTC))
        for index, place in enumerate(sorted(ends))
    ]


def test_an_interval_that_ends_where_another_begins_is_level_with_it() -> None:
    assert [e.rank for e in rank(standings((10, 9, 11), (12, 11, 13)))] == [1, 1]


def test_a_wide_interval_does_not_pay() -> None:
    """The last overlaps the first, but two with better scores are surely slower than the first."""
    rows = standings((10, 9.9, 10.1), (11, 10.9, 11.1), (12, 11.9, 12.1), (13, 9, 17))
    assert [entry.rank for entry in rank(rows)] == [1, 2, 3, 3]


@settings(max_examples=200, deadline=None)
@given(
    st.lists(
        st.tuples(st.floats(1, 100), st.floats(0, 1), st.floats(0, 1)), min_size=1, max_size=12
    ),
    st.data(),
)
def test_ranks_are_fair(drawn: list[tuple[float, float, float]], data: st.DataObject) -> None:
    rows = standings(*((s, s * (1 - down / 2), s * (1 + up)) for s, down, up in drawn))
    found = [entry.rank for entry in rank(rows)]
    assert found[0] == 1
    assert found == sorted(found), "a better score never has a worse rank"
    for index, row in enumerate(rows):
        faster = [place for place, other in enumerate(rows) if other.high < row.low]
        assert found[index] > len(faster), "one more than are surely faster, at the least"
        assert all(found[place] < found[index] for place in faster)
    top = data.draw(st.integers(1, len(rows)))
    assert [entry.rank for entry in rank(rows[:top])] == found[:top]


def test_of_equals_the_earlier_stands_first(measurer: None, parts: Parts) -> None:
    judge(parts, "zoe", 10)
    judge(parts, "ada", 10)
    judge(parts, "zoe", 10)
    assert ranks(parts.service) == [(1, "zoe", True), (1, "ada", True)]


def test_the_top_of_a_board_has_the_ranks_of_the_whole(measurer: None, parts: Parts) -> None:
    for index in range(5):
        judge(parts, f"u{index}", 10 + index)
    board = parts.service.board("softmax", DeviceName.H200, limit=2)
    assert [entry.rank for entry in board.entries] == [1, 2]
    assert board.total == 5


def test_boards_of_other_devices_and_tasks_are_apart(measurer: None, parts: Parts) -> None:
    judge(parts, "ada", 10)
    assert parts.service.board("softmax", DeviceName.H100).total == 0
    assert parts.service.board("matmul", DeviceName.H200).total == 0


def test_what_another_version_of_the_clock_measured_is_counted_but_not_ranked(
    measurer: None, parts: Parts
) -> None:
    name = submit(parts, "old").id
    older = report(payload(parts, name), Verdict.ACCEPTED, harness=HARNESS_VERSION + 1)
    publisher(parts, name).report(older)
    consume(parts)
    judge(parts, "ada", 10)
    board = parts.service.board("softmax", DeviceName.H200)
    assert [entry.user for entry in board.entries] == ["ada"]
    assert (board.total, board.outdated, board.harness) == (1, 1, HARNESS_VERSION)
