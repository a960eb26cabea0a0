"""Boards are worked out once for each change, and never shown as they were."""

import httpx
import pytest

from app.boards import Boards
from app.main import Parts
from app.store import board, submissions
from app.store.board import BoardName
from kernels.contract import DeviceName
from tests.app.judging import beat, judge

NAME = BoardName("softmax", 1, DeviceName.H200)


@pytest.fixture
def boards(parts: Parts) -> Boards:
    beat(parts.connection, name="m", role="measure", device="H200")
    return Boards(parts.store)


def test_a_board_is_worked_out_again_when_it_changed(parts: Parts, boards: Boards) -> None:
    empty = boards.get(NAME, 10)
    assert boards.get(NAME, 10) is empty
    judge(parts, "ada", 10)
    first = boards.get(NAME, 10)
    assert [entry.user for entry in first.board.entries] == ["ada"]
    assert boards.get(NAME, 10) is first
    judge(parts, "bob", 9)
    assert [entry.user for entry in boards.get(NAME, 10).board.entries] == ["bob", "ada"]
    assert len(boards.get(NAME, 1).board.entries) == 1


def test_a_worse_submission_and_one_that_is_held_change_it_too(
    parts: Parts, boards: Boards
) -> None:
    name = judge(parts, "ada", 10).id
    judge(parts, "ada", 20)
    assert boards.get(NAME, 10).board.entries[0].submission == name
    with parts.store.write() as session:
        row = submissions.by_id(session, name)
        assert row is not None
        board.hold(session, row, "it failed when it was measured again")
    found = boards.get(NAME, 10).board
    assert found.entries[0].score == 20
    assert [entry.submission for entry in found.held] == [name]


def test_processes_agree_on_tags(parts: Parts, boards: Boards) -> None:
    judge(parts, "ada", 10)
    other = Boards(parts.store)
    assert other.get(NAME, 10).tag == boards.get(NAME, 10).tag
    tags = {boards.get(NAME, limit).tag for limit in range(1, 132)}
    assert len(tags) == 1


def test_a_client_that_knows_a_board_is_told_so(client: httpx.Client) -> None:
    path = "/api/v1/boards/softmax/H200"
    first = client.get(path)
    assert first.headers["content-type"] == "application/json"
    again = client.get(path, headers={"If-None-Match": first.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")
    assert client.get(path, headers={"If-None-Match": '"other"'}).json() == first.json()
