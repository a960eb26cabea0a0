"""Whose turn it is, in either database."""

import itertools
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from app.store import Store, submissions, turns
from app.store.submissions import Origin
from app.store.turns import Lane
from kernels.contract import DeviceName, Stage
from tests.app.judging import submission

LANE = Lane(DeviceName.H200, measured=True)
_NUMBERS = itertools.count()


@pytest.fixture
def store(database_url: str) -> Iterator[Store]:
    store = Store(database_url)
    store.migrate()
    yield store
    store.close()


def add(store: Store, *users: str) -> None:
    """A submission of each user, in that order; its id begins with the user's name."""
    with store.write() as session:
        for user in users:
            given = submission().model_copy(update={"id": f"{user}-{next(_NUMBERS)}"})
            submissions.insert(session, given, Origin(user, None, ""))


def release(store: Store, most: int) -> list[str]:
    """Whose submissions go to the workers."""
    with store.write() as session:
        return [name.split("-")[0] for name in turns.release(session, LANE, most)]


def finish(store: Store) -> None:
    """All that are with the workers."""
    with store.write() as session:
        for row in turns.with_workers(session):
            row.stage = Stage.FINISHED


def test_one_of_each_user_then_the_next_of_each(store: Store) -> None:
    add(store, *"aaaaabbc")
    assert release(store, 20) == list("abcabaaa")


def test_no_more_are_in_flight_than_asked_for(store: Store) -> None:
    add(store, *"aaab")
    assert release(store, 2) == ["a", "b"]
    assert release(store, 2) == []
    assert release(store, 3) == ["a"]


def test_whoever_comes_back_after_each_verdict_does_not_pass_those_who_wait(store: Store) -> None:
    add(store, *"aaaab")
    served = []
    for _ in range(6):
        served += release(store, 1)
        finish(store)
        if served[-1] == "b":
            add(store, "b")
    assert served == list("ababab")


def test_a_place_is_the_order_in_which_they_go_out(store: Store) -> None:
    add(store, *"aabaacbdaac")
    release(store, 3)
    with store.read() as session:
        rows = submissions.unfinished(session)
        places = {row.id: submissions.position(session, row) or 0 for row in rows}
    with store.write() as session:
        order = turns.release(session, LANE, len(rows))
    assert sorted(order, key=places.__getitem__) == order
    assert sorted(places.values()) == list(range(1, len(rows) + 1))


def test_two_services_release_none_twice_and_not_too_many(store: Store) -> None:
    add(store, *"abcdefgh" * 4)
    with ThreadPoolExecutor(4) as pool:
        found = [name for part in pool.map(lambda _: release(store, 10), range(8)) for name in part]
    assert sorted(found) == sorted([*"abcdefgh", *"ab"])
