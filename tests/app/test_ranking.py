"""Boards: who is first, who is level, and that a board shows each user once."""

import pytest

from app.main import Parts
from app.service import Service
from kernels.contract import DeviceName
from tests.app.judging import beat, judge


@pytest.fixture(autouse=True)
def measurer(parts: Parts) -> None:
    beat(parts.connection, name="m", role="measure", device="H200")


def ranks(service: Service) -> list[tuple[int, str, bool]]:
    board = service.board("softmax", DeviceName.H200)
    return [(entry.rank, entry.user, entry.tied) for entry in board.entries]


def test_an_empty_board(parts: Parts) -> None:
    board = parts.service.board("softmax", DeviceName.H200)
    assert (board.entries, board.total) == ((), 0)


def test_each_user_stands_with_the_best_submission(parts: Parts) -> None:
    judge(parts, "ada", 12)
    best = judge(parts, "ada", 10)
    judge(parts, "ada", 11)
    judge(parts, "bob", 20)
    board = parts.service.board("softmax", DeviceName.H200)
    first = board.entries[0]
    assert (first.user, first.score, first.submission) == ("ada", 10, best.id)
    assert [entry.behind for entry in board.entries] == [1, 2]
    assert board.total == 2


def test_overlapping_intervals_share_a_rank(parts: Parts) -> None:
    judge(parts, "ada", 10.0, spread=0.01)
    judge(parts, "bob", 10.1, spread=0.01)
    judge(parts, "cyd", 11.0, spread=0.01)
    assert ranks(parts.service) == [(1, "ada", True), (1, "bob", True), (3, "cyd", False)]


def test_a_chain_of_overlaps_does_not_tie_its_ends(parts: Parts) -> None:
    """Bob overlaps both neighbours, but Cyd is surely slower than Ada."""
    judge(parts, "ada", 10.0, spread=0.01)
    judge(parts, "bob", 10.15, spread=0.01)
    judge(parts, "cyd", 10.3, spread=0.01)
    assert ranks(parts.service) == [(1, "ada", True), (1, "bob", True), (3, "cyd", False)]


def test_of_equals_the_earlier_stands_first(parts: Parts) -> None:
    judge(parts, "zoe", 10)
    judge(parts, "ada", 10)
    judge(parts, "zoe", 10)
    assert ranks(parts.service) == [(1, "zoe", True), (1, "ada", True)]


def test_the_top_of_a_board_has_the_ranks_of_the_whole(parts: Parts) -> None:
    for index in range(5):
        judge(parts, f"u{index}", 10 + index)
    board = parts.service.board("softmax", DeviceName.H200, limit=2)
    assert [entry.rank for entry in board.entries] == [1, 2]
    assert board.total == 5


def test_boards_of_other_devices_and_tasks_are_apart(parts: Parts) -> None:
    judge(parts, "ada", 10)
    assert parts.service.board("softmax", DeviceName.H100).total == 0
    assert parts.service.board("matmul", DeviceName.H200).total == 0
