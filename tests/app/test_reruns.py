"""Measuring again and looking deeper: asked for once, done once, never to a wrong one's favour."""

import math
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from app import clock
from app.errors import Conflict, NotFound, TooManyRequests, Unavailable
from app.main import Parts, assemble
from app.redis_server import EmbeddedRedis
from app.reruns import presenting, requests
from app.settings import Settings
from app.store import Store, audit, board
from app.store.submissions import by_id
from app.store.tables import PlanRow
from kernels.catalog import Catalog
from kernels.contract import DeviceName, Verdict
from kernels.contract.rerun import RerunKind, RerunState, Turn, rerun_bundle_key
from tests.app.conftest import emptied_database, temporary_settings
from tests.app.judging import consume, judge
from tests.app.rerunning import (
    BUNDLE,
    INSPECTION,
    accepted,
    job_of,
    measured_again,
    measurer,
    sitting,
    take,
    voice,
)
from workers.events import lease

LATER = 30.0


@pytest.fixture(scope="module")
def redis_address() -> Iterator[str]:
    """A Redis for all tests of this module."""
    with temporary_settings() as settings:
        server = EmbeddedRedis(settings.redis_socket)
        server.ensure()
        yield settings.redis_address
        server.stop()


@pytest.fixture(scope="module")
def tables(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An empty SQLite database with all tables, to copy: making them takes longest."""
    path = tmp_path_factory.mktemp("tables") / "empty.db"
    store = Store(f"sqlite:///{path}")
    store.migrate()
    store.close()
    return path


@pytest.fixture
def parts(redis_address: str, tables: Path, tmp_path: Path, catalog: Catalog) -> Iterator[Parts]:
    """Everything but the background loops, with a measurer."""
    shutil.copy(tables, tmp_path / "kerneljudge.db")
    settings = Settings(data_dir=tmp_path, redis_url=redis_address, database_url=emptied_database())
    parts = assemble(settings, catalog)
    parts.connection.flushall()
    parts.store.migrate()
    measurer(parts)
    yield parts
    parts.connection.close()
    parts.store.close()


def remeasure(parts: Parts, submission: str) -> str:
    return requests.remeasure(parts.service, submission).rerun.id


def state_of(parts: Parts, rerun: str) -> tuple[RerunState, int]:
    detail = presenting.rerun_detail(parts.service, rerun)
    return detail.state, detail.attempt


def place(parts: Parts) -> list[tuple[str, float, int]]:
    entries = parts.service.board("softmax", DeviceName.H200).entries
    return [(entry.user, entry.score, entry.sittings) for entry in entries]


def test_a_sitting_is_pooled_with_the_first(parts: Parts) -> None:
    one = accepted(parts, microseconds=10.0)
    rerun = remeasure(parts, one.id)
    job = job_of(parts, rerun)
    assert job.turns == (Turn(submission=one.id, round=1),)
    assert parts.connection.get(rerun_bundle_key(rerun, one.id)) == BUNDLE
    measured_again(parts, rerun, 10.02)
    assert state_of(parts, rerun) == (RerunState.DONE, 1)
    [(_, score, sittings)] = place(parts)
    assert score == pytest.approx(math.sqrt(10 * 10.02))
    assert sittings == 2
    found = presenting.sittings_of(parts.service, one.id)
    assert [(s.number, s.score, s.counts) for s in found.sittings] == [
        (0, 10.0, True), (1, 10.02, True),
    ]  # fmt: skip
    assert presenting.sitting_report(parts.service, one.id, 1).score == 10.02
    assert parts.service.submission_detail(one.id).score == 10.0, "the report stays as it was"
    assert parts.connection.get(rerun_bundle_key(rerun, one.id)) is None


def test_asking_twice_is_asking_once_until_it_has_ended(parts: Parts) -> None:
    one = accepted(parts)
    first = requests.remeasure(parts.service, one.id)
    again = requests.remeasure(parts.service, one.id)
    assert (first.created, again.created) == (True, False)
    assert first.rerun.id == again.rerun.id
    measured_again(parts, first.rerun.id, 10)
    assert remeasure(parts, one.id) != first.rerun.id


def test_another_submission_of_the_user_may_be_best_now(parts: Parts) -> None:
    slow, fast = accepted(parts, microseconds=10.05), accepted(parts, microseconds=10.0)
    measured_again(parts, remeasure(parts, fast.id), 10.3)
    [entry] = parts.service.board("softmax", DeviceName.H200).entries
    assert (entry.submission, entry.score) == (slow.id, 10.05)


@pytest.mark.parametrize("verdict", [Verdict.WRONG_ANSWER, Verdict.UNSTABLE])
def test_what_is_not_accepted_again_is_held_and_shown(parts: Parts, verdict: Verdict) -> None:
    slow, fast = accepted(parts, microseconds=20), accepted(parts, microseconds=10)
    measured_again(parts, remeasure(parts, fast.id), 10, verdict)
    board_now = parts.service.board("softmax", DeviceName.H200)
    assert [entry.submission for entry in board_now.entries] == [slow.id]
    assert [held.submission for held in board_now.held] == [fast.id]
    assert verdict.value in board_now.held[0].reason
    assert parts.service.submission_detail(fast.id).verdict is Verdict.ACCEPTED
    last = presenting.sittings_of(parts.service, fast.id).sittings[-1]
    assert (last.verdict, last.counts) == (verdict, False)
    with pytest.raises(Conflict, match="is held"):
        remeasure(parts, fast.id)


def test_a_time_that_cannot_be_holds_only_when_it_comes_back(parts: Parts) -> None:
    one = accepted(parts)
    measured_again(parts, remeasure(parts, one.id), 0.1, Verdict.IMPLAUSIBLE)
    assert place(parts) == [("local", 10.0, 1)]
    last = presenting.sittings_of(parts.service, one.id).sittings[-1]
    assert (last.verdict, last.counts) == (Verdict.IMPLAUSIBLE, False)
    measured_again(parts, remeasure(parts, one.id), 0.1, Verdict.IMPLAUSIBLE)
    assert place(parts) == []


def test_a_held_submission_stays_held(parts: Parts) -> None:
    one = accepted(parts)
    rerun = requests.remeasure_board(parts.service, "softmax", DeviceName.H200, 1, 2).rerun.id
    job = job_of(parts, rerun)
    wrong = sitting(job, job.turns[0], verdict=Verdict.WRONG_ANSWER)
    voice(parts, job).sitting(job.turns[0], wrong)
    voice(parts, job).sitting(job.turns[1], sitting(job, job.turns[1]))
    voice(parts, job).end()
    consume(parts)
    assert place(parts) == []
    standing = presenting.sittings_of(parts.service, one.id).standing
    assert standing is not None
    assert standing.held


@pytest.mark.parametrize("verdict", [Verdict.WRONG_ANSWER, Verdict.IMPLAUSIBLE])
def test_only_what_was_accepted_is_measured_again(parts: Parts, verdict: Verdict) -> None:
    one = accepted(parts, verdict=verdict)
    with pytest.raises(Conflict, match="a verdict does not change"):
        remeasure(parts, one.id)


def test_without_its_plan_nothing_is_measured(parts: Parts) -> None:
    judge(parts, "local", 10)
    [entry] = parts.service.board("softmax", DeviceName.H200).entries
    with pytest.raises(Conflict, match="not stored"):
        remeasure(parts, entry.submission)


def test_an_unknown_submission_or_rerun_is_not_found(parts: Parts) -> None:
    with pytest.raises(NotFound):
        remeasure(parts, "nope")
    for name in ("nope", "../x", "r" * 100):
        with pytest.raises(NotFound):
            presenting.rerun_detail(parts.service, name)


def test_reruns_are_limited_in_number(parts: Parts) -> None:
    one = accepted(parts)
    for _ in range(requests.MOST_SITTINGS):
        measured_again(parts, remeasure(parts, one.id), 10)
    with pytest.raises(TooManyRequests, match="measured again 24 times"):
        remeasure(parts, one.id)
    assert place(parts)[0][2] == 1 + requests.MOST_SITTINGS


def test_an_attempt_that_fails_is_tried_again_three_times(parts: Parts) -> None:
    rerun = remeasure(parts, accepted(parts).id)
    for attempt in (1, 2, 3):
        assert state_of(parts, rerun) == (RerunState.QUEUED, attempt)
        parts.service.reruns.sweep(clock.steady())
        voice(parts, job_of(parts, rerun, attempt)).fail("the jail does not answer")
        consume(parts)
    detail = presenting.rerun_detail(parts.service, rerun)
    assert (detail.state, detail.detail) == (RerunState.FAILED, "the jail does not answer")
    assert place(parts)[0][2] == 1, "our own faults hold nobody"


def test_a_refusal_is_final(parts: Parts) -> None:
    asked = requests.inspect(parts.service, accepted(parts).id, RerunKind.PROFILE)
    job = job_of(parts, asked.rerun.id)
    voice(parts, job).fail("counters are for admins", final=True)
    consume(parts)
    assert state_of(parts, asked.rerun.id) == (RerunState.FAILED, 1)
    with lease(parts.connection, job) as held:
        assert not held


def test_a_rerun_whose_worker_died_goes_on_where_it_was(parts: Parts) -> None:
    names = {accepted(parts, user, 10 + index).id for index, user in enumerate("abc")}
    rerun = requests.remeasure_board(parts.service, "softmax", DeviceName.H200, 3, 2).rerun.id
    take(parts, rerun)
    job = job_of(parts, rerun)
    assert {turn.submission for turn in job.turns[:3]} == names, "round by round"
    assert [turn.round for turn in job.turns] == [1, 1, 1, 2, 2, 2]
    for turn in job.turns[:4]:
        voice(parts, job).sitting(turn, sitting(job, turn))
    consume(parts)
    now = clock.steady()
    parts.service.reruns.sweep(now)
    parts.service.reruns.sweep(now + LATER)
    assert state_of(parts, rerun) == (RerunState.QUEUED, 2)
    again = job_of(parts, rerun, 2)
    assert set(again.turns) == set(job.turns[4:])
    with lease(parts.connection, job) as held:
        assert not held, "who comes back to what was given up is turned away"
    with lease(parts.connection, again) as held:
        assert held
    voice(parts, job).sitting(job.turns[4], sitting(job, job.turns[4], 99.0))
    consume(parts)
    for turn in again.turns:
        voice(parts, again).sitting(turn, sitting(again, turn))
    voice(parts, again).end()
    consume(parts)
    assert state_of(parts, rerun) == (RerunState.DONE, 2)
    assert all(score < 20 for _, score, _ in place(parts)), "a late word counts for nothing"


def test_a_sitting_that_is_said_twice_counts_once(parts: Parts) -> None:
    one = accepted(parts)
    job = job_of(parts, remeasure(parts, one.id))
    for microseconds in (10.0, 12.0):
        voice(parts, job).sitting(job.turns[0], sitting(job, job.turns[0], microseconds))
    consume(parts)
    assert [s.score for s in presenting.sittings_of(parts.service, one.id).sittings] == [10, 10]


def test_a_sitting_that_nobody_asked_for_is_refused(parts: Parts) -> None:
    one, other = accepted(parts), accepted(parts, "other")
    job = job_of(parts, remeasure(parts, one.id))
    for turn in (Turn(submission=other.id, round=1), Turn(submission=one.id, round=2)):
        voice(parts, job).sitting(turn, sitting(job, turn, 0.001))
    late = job.model_copy(update={"attempt": 7})
    voice(parts, late).sitting(job.turns[0], sitting(late, job.turns[0], 0.001))
    consume(parts)
    assert parts.connection.llen("events:dead") == 2
    assert {score for _, score, _ in place(parts)} == {10.0}


def test_an_end_without_all_turns_is_no_end(parts: Parts) -> None:
    rerun = remeasure(parts, accepted(parts).id)
    voice(parts, job_of(parts, rerun)).end()
    consume(parts)
    assert state_of(parts, rerun) == (RerunState.QUEUED, 2)


def test_reruns_wait_while_submissions_do_but_not_for_ever(parts: Parts) -> None:
    one = accepted(parts)
    parts.connection.rpush("rq:queue:measure:H200", "measure-x-1")
    rerun = remeasure(parts, one.id)
    assert parts.connection.llen("rq:queue:measure:H200") == 1
    parts.service.reruns.sweep(clock.steady() + LATER)
    assert parts.connection.llen("rq:queue:measure:H200") == 1
    parts.service.reruns.sweep(clock.steady() + 301)
    assert job_of(parts, rerun).id == rerun


def test_of_one_device_one_rerun_is_out_at_a_time(parts: Parts) -> None:
    first, second = (remeasure(parts, accepted(parts, user).id) for user in "ab")
    take(parts, first)
    parts.service.reruns.sweep(clock.steady())
    assert parts.connection.llen("rq:queue:measure:H200") == 0
    measured_again(parts, first, 10)
    parts.service.reruns.sweep(clock.steady())
    assert job_of(parts, second).id == second


def test_a_rerun_that_nobody_takes_ends(parts: Parts) -> None:
    rerun = remeasure(parts, accepted(parts).id)
    parts.connection.delete("worker:m")
    parts.service.presence._read_at = -1e9
    parts.service.reruns.sweep(clock.steady() + 7200)
    assert state_of(parts, rerun) == (RerunState.FAILED, 1)


def test_an_inspection_is_stored_with_its_configurations(parts: Parts) -> None:
    one = accepted(parts, verdict=Verdict.WRONG_ANSWER)
    asked = requests.inspect(parts.service, one.id, RerunKind.MEMCHECK)
    job = job_of(parts, asked.rerun.id)
    assert (job.kind, job.turns) == (RerunKind.MEMCHECK, ())
    voice(parts, job).got_on("replaying under compute-sanitizer")
    consume(parts)
    assert state_of(parts, asked.rerun.id)[0] is RerunState.RUNNING
    voice(parts, job).end(INSPECTION, 1.5)
    consume(parts)
    [detail] = presenting.reruns_of(parts.service, one.id)
    assert (detail.state, detail.inspection) == (RerunState.DONE, INSPECTION)


def test_an_inspection_without_a_result_is_none(parts: Parts) -> None:
    asked = requests.inspect(parts.service, accepted(parts).id, RerunKind.MEMCHECK)
    voice(parts, job_of(parts, asked.rerun.id)).end()
    consume(parts)
    assert state_of(parts, asked.rerun.id) == (RerunState.QUEUED, 2)


@pytest.mark.parametrize("verdict", [Verdict.TIMEOUT, Verdict.REJECTED, Verdict.BUILD_ERROR])
def test_a_plan_that_does_not_run_to_its_end_is_not_looked_at(
    parts: Parts, verdict: Verdict
) -> None:
    one = accepted(parts, verdict=verdict)
    with pytest.raises(Conflict, match="ran to its end"):
        requests.inspect(parts.service, one.id, RerunKind.MEMCHECK)


def test_where_a_tool_is_missing_the_answer_says_so(parts: Parts) -> None:
    one = accepted(parts)
    missing = {"profile": "ncu is not installed: install NVIDIA Nsight Compute", "memcheck": ""}
    measurer(parts, inspections=missing)
    with pytest.raises(Unavailable) as refusal:
        requests.inspect(parts.service, one.id, RerunKind.PROFILE)
    assert refusal.value.detail == "ncu is not installed"
    assert refusal.value.next_step == "Install NVIDIA Nsight Compute."
    assert requests.inspect(parts.service, one.id, RerunKind.MEMCHECK).created
    with pytest.raises(Unavailable, match="does not know of inspections"):
        requests.inspect(parts.service, one.id, RerunKind.RACECHECK)


def test_the_top_of_a_board_is_measured_together(parts: Parts) -> None:
    best = [accepted(parts, user, 10 + index).id for index, user in enumerate("abc")][:2]
    asked = requests.remeasure_board(parts.service, "softmax", DeviceName.H200, 2, 3)
    with parts.store.read() as session:
        (noted,) = audit.page(session, {"act": "measure again"}, None, 9)
    assert (noted.user, noted.about) == ("local", asked.rerun.id)
    assert (list(asked.rerun.submissions), asked.rerun.rounds) == (best, 3)
    measured_again(parts, asked.rerun.id, 10)
    assert [sittings for _, _, sittings in place(parts)] == [4, 4, 1]
    remeasure(parts, best[1])
    with pytest.raises(Conflict, match="being measured again already"):
        requests.remeasure_board(parts.service, "softmax", DeviceName.H200, 2, 3)
    with pytest.raises(NotFound):
        requests.remeasure_board(parts.service, "matmul", DeviceName.H200, 2, 3)


def test_a_plan_that_was_thrown_away_ends_the_rerun(parts: Parts) -> None:
    one = accepted(parts)
    parts.connection.rpush("rq:queue:measure:H200", "measure-x-1")
    rerun = remeasure(parts, one.id)
    with parts.store.write() as session:
        row = by_id(session, one.id)
        assert row is not None
        session.delete(session.get(PlanRow, row.number))
        assert board.standing(session, row) is not None
    parts.service.reruns.sweep(clock.steady() + 301)
    assert state_of(parts, rerun) == (RerunState.FAILED, 1)
