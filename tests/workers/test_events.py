"""Events, leases and bundles on a real Redis."""

import threading
import time
from typing import Any

import pytest
import redis
from pydantic import TypeAdapter

from kernels.contract import STREAM, Event, Submission, bundle_key, lease_key
from kernels.contract.event import CANCELLED, LEASE_SECONDS
from tests.contract import examples
from workers import events as worker_events
from workers.events import Publisher, lease

EVENT: TypeAdapter[Any] = TypeAdapter(Event)


def events(connection: redis.Redis) -> list[Any]:
    entries: Any = connection.xrange(STREAM)
    return [EVENT.validate_json(fields[b"event"]) for _, fields in entries]


def test_every_event_can_be_read_back(connection: redis.Redis, submission: Submission) -> None:
    publisher = Publisher(connection, submission, "host")
    publisher.stage("building", "compiling")
    publisher.built(b"plan", "0" * 64)
    publisher.report(examples.report())
    assert [event.kind for event in events(connection)] == ["stage", "built", "report"]
    assert connection.get(bundle_key("s1", 1)) == b"plan"
    assert connection.ttl(bundle_key("s1", 1)) > 3600


def test_one_worker_holds_an_attempt(connection: redis.Redis, submission: Submission) -> None:
    with lease(connection, submission) as first, lease(connection, submission) as second:
        assert (first, second) == (True, False)
        assert 0 < connection.ttl(lease_key("s1", 1)) <= LEASE_SECONDS
    assert not connection.exists(lease_key("s1", 1))
    with lease(connection, submission) as again:
        assert again


def test_a_lease_that_was_lost_is_left_to_its_new_holder(
    connection: redis.Redis, submission: Submission
) -> None:
    with lease(connection, submission):
        connection.set(lease_key("s1", 1), "another")
    assert connection.get(lease_key("s1", 1)) == b"another"


@pytest.mark.parametrize("holder", ["another", CANCELLED])
def test_who_lost_an_attempt_stops(
    connection: redis.Redis, submission: Submission, quickly: None, holder: str
) -> None:
    lost = threading.Event()
    with lease(connection, submission, lost.set):
        assert not lost.wait(0.2)
        connection.set(lease_key("s1", 1), holder)
        assert lost.wait(10)


def test_a_lease_that_redis_forgot_is_taken_again(
    connection: redis.Redis, submission: Submission, quickly: None
) -> None:
    lost = threading.Event()
    with lease(connection, submission, lost.set):
        connection.flushall()
        deadline = time.monotonic() + 10
        while not connection.exists(lease_key("s1", 1)) and time.monotonic() < deadline:
            time.sleep(0.01)
        with lease(connection, submission) as second:
            assert not second
    assert not lost.is_set()
    assert not connection.exists(lease_key("s1", 1))


@pytest.fixture
def quickly(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leases are renewed often."""
    monkeypatch.setattr(worker_events, "LEASE_REFRESH_SECONDS", 0.05)
