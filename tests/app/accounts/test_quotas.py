"""Quotas hold also for many requests at once, and nothing gives back what was used."""

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta

import pytest
from sqlalchemy import delete, update

from app import clock
from app.accounts import Caller, administration, quotas
from app.accounts.callers import scopes_of
from app.accounts.schemas import AccountChange
from app.errors import TooManyRequests
from app.main import Parts, assemble
from app.roles import Role, Scope
from app.schemas import SubmitRequest
from app.settings import Settings
from app.store import submissions
from app.store.account_tables import UsageRow
from app.store.tables import StageRow, SubmissionRow
from kernels.catalog import Catalog
from kernels.contract import GpuSeconds, Verdict
from tests.app.accounts.house import PASSWORD
from tests.app.judging import SOURCE, beat, consume, payload, publisher, report

ADMIN = Caller("boss", frozenset(Scope))
ADA = Caller("ada", scopes_of(Role.PARTICIPANT))
on_sqlite = pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
"""Where nothing happens at once, one kind of database will do."""

MEASURE_SECONDS = Catalog()["softmax"].task.limits.measure


@pytest.fixture
def parts(settings: Settings, catalog: Catalog, database_url: str) -> Iterator[Parts]:
    """An open installation with tight quotas on each kind of database, and ada in it."""
    tight = replace(
        settings,
        database_url=database_url,
        accounts="open",
        user_waiting_limit=4,
        user_hourly_limit=6,
        user_gpu_seconds_limit=int(5.5 * MEASURE_SECONDS),
    )
    parts = assemble(tight, catalog)
    assert parts.embedded is not None
    parts.embedded.ensure()
    parts.store.migrate()
    administration.create_account(parts.store, "ada", PASSWORD, Role.PARTICIPANT)
    yield parts
    parts.embedded.stop()
    parts.connection.close()
    parts.store.close()


def submit(parts: Parts, number: int = 0) -> str:
    """A new submission of ada's."""
    service = parts.service.on_behalf_of(ADA)
    wanted = SubmitRequest(task="softmax", source=f"{SOURCE}# {number}\n")
    return service.submit(wanted).submission.id


def submit_at_once(parts: Parts, times: int) -> int:
    """How many of so many parallel submissions were taken in."""
    gate = threading.Barrier(times)

    def one(number: int) -> bool:
        gate.wait()
        try:
            submit(parts, number)
        except TooManyRequests:
            return False
        return True

    with ThreadPoolExecutor(times) as pool:
        return sum(pool.map(one, range(times)))


def finish_all(parts: Parts, gpu: float | None = None) -> None:
    """Let everything that waits be accepted, having used so many GPU seconds."""
    with parts.store.read() as session:
        waiting = [row.id for row in submissions.unfinished(session)]
    for name in waiting:
        used = None if gpu is None else GpuSeconds.of(timing=gpu)
        given = report(payload(parts, name), Verdict.ACCEPTED).model_copy(update={"gpu": used})
        publisher(parts, name).report(given)
    consume(parts)


def used(parts: Parts) -> tuple[float, float, float]:
    """Unfinished, within the hour, GPU seconds."""
    use = parts.service.quotas_of("ada")
    return use.waiting.used, use.hourly.used, use.gpu_seconds.used


def test_unfinished_submissions_are_limited(parts: Parts) -> None:
    assert submit_at_once(parts, 12) == 4
    finish_all(parts)
    assert submit_at_once(parts, 2) == 2


def test_submissions_within_an_hour_are_limited_whatever_becomes_of_them(parts: Parts) -> None:
    assert submit_at_once(parts, 4) == 4
    finish_all(parts)
    assert submit_at_once(parts, 8) == 2
    with parts.store.write() as session:  # as an operator who clears the store
        session.execute(delete(StageRow).where(StageRow.submission.in_([5, 6])))
        session.execute(delete(SubmissionRow).where(SubmissionRow.verdict.is_(None)))
    assert used(parts) == (0, 6, 0)
    with pytest.raises(TooManyRequests) as refused:
        submit(parts)
    assert refused.value.retry_after is not None
    assert 3000 < refused.value.retry_after <= 3600
    _grow_older(parts, quotas.HOUR)
    assert submit_at_once(parts, 1) == 1


@on_sqlite
def test_cancelling_refunds_no_submission(parts: Parts) -> None:
    for number in range(6):
        parts.service.on_behalf_of(ADA).cancel(submit(parts, number))
    assert used(parts) == (0, 6, 0)
    with pytest.raises(TooManyRequests):
        submit(parts)


def test_gpu_seconds_are_held_back_and_then_charged(parts: Parts) -> None:
    """Each submission holds back what it may take at most, so none goes over the limit."""
    beat(parts.connection, name="m", role="measure", device="H200")
    administration.change_account(
        parts.store, ADMIN, "ada", AccountChange(waiting_limit=50, hourly_limit=50)
    )
    assert submit_at_once(parts, 12) == 5
    assert used(parts) == (5, 5, 5 * MEASURE_SECONDS)
    with pytest.raises(TooManyRequests, match="GPU seconds"):
        submit(parts)
    finish_all(parts, gpu=2.0)
    assert used(parts) == (0, 5, 10.0)
    assert submit_at_once(parts, 12) == 5
    finish_all(parts, gpu=MEASURE_SECONDS)
    with pytest.raises(TooManyRequests) as refused:
        submit(parts)
    assert refused.value.retry_after is not None
    assert refused.value.retry_after > 80_000
    _grow_older(parts, quotas.DAY)
    submit(parts)


@on_sqlite
def test_what_was_measured_before_it_was_cancelled_is_charged(parts: Parts) -> None:
    beat(parts.connection, name="m", role="measure", device="H200")
    name = submit(parts)
    publisher(parts, name).stage("measuring", "replaying")
    consume(parts)
    with parts.store.write() as session:
        session.execute(
            update(StageRow)
            .where(StageRow.stage == "measuring")
            .values(at=clock.now() - timedelta(seconds=9))
        )
    parts.service.on_behalf_of(ADA).cancel(name)
    assert 9 <= used(parts)[2] < 60


@on_sqlite
def test_our_own_faults_cost_nothing(parts: Parts) -> None:
    beat(parts.connection, name="m", role="measure", device="H200")
    name = submit(parts)
    for attempt in (1, 2, 3):
        fault = report(payload(parts, name), Verdict.JUDGE_ERROR)
        publisher(parts, name, attempt).report(fault)
        consume(parts)
    assert used(parts) == (0, 1, 0)


@on_sqlite
def test_a_limit_of_ones_own_counts_and_zero_is_none_at_all(parts: Parts) -> None:
    change = AccountChange(hourly_limit=0)
    administration.change_account(parts.store, ADMIN, "ada", change)
    assert submit_at_once(parts, 2) == 0
    usual = AccountChange(hourly_limit=None)
    administration.change_account(parts.store, ADMIN, "ada", usual)
    assert submit_at_once(parts, 2) == 2


def _grow_older(parts: Parts, time: timedelta) -> None:
    with parts.store.write() as session:
        for row in session.query(UsageRow):
            row.at -= time
