"""Whatever is killed or lost, a submission ends, and once."""

import pytest

from app import clock
from app.attempts import MAX_ATTEMPTS
from app.main import Parts
from app.queue import JobState
from app.reaper import Action, Patience, Situation, decide
from kernels.contract import Stage, Verdict, job_id, lease_key
from tests.app.judging import beat, consume, payload, publisher, report, submit
from workers.events import lease

GRACE = Patience().for_sign_of_life + 1
HOUR = Patience().for_worker + 1


def state_of(parts: Parts, submission: str) -> JobState:
    attempt = parts.service.submission_detail(submission).attempt
    return parts.queue.state(parts.queue.snapshot(), submission, attempt)


def take(parts: Parts, submission: str, attempt: int = 1) -> None:
    """What a worker does to a job that it takes from the queue."""
    name = job_id("build", submission, attempt)
    parts.connection.lrem("rq:queue:build", 1, name)
    parts.connection.hset(f"rq:job:{name}", "status", "started")


def sweep(parts: Parts, *later: float) -> None:
    """A sweep now, and one after each of those seconds."""
    now = clock.steady()
    parts.reaper.sweep(now)
    for seconds in later:
        now += seconds
        parts.reaper.sweep(now)


@pytest.mark.parametrize(
    ("stage", "job", "leased", "unmoved", "abandoned", "action"),
    [
        (Stage.QUEUED, JobState.WAITING, False, 10, 0, Action.LEAVE),
        (Stage.QUEUED, JobState.WAITING, False, HOUR, 0, Action.EXPIRE),
        (Stage.BUILDING, JobState.WAITING, False, HOUR, 0, Action.EXPIRE),
        (Stage.QUEUED, JobState.WAITING, True, HOUR, 0, Action.LEAVE),
        (Stage.QUEUED, JobState.MISSING, False, 0, 0, Action.ENQUEUE),
        (Stage.QUEUED, JobState.STARTED, False, 0, 0, Action.LEAVE),
        (Stage.QUEUED, JobState.STARTED, False, 0, GRACE, Action.RESTART),
        (Stage.QUEUED, JobState.OVER, False, 0, GRACE, Action.RESTART),
        (Stage.BUILDING, JobState.STARTED, True, HOUR, 0, Action.LEAVE),
        (Stage.BUILDING, JobState.STARTED, False, HOUR, 1, Action.LEAVE),
        (Stage.BUILDING, JobState.STARTED, False, 0, GRACE, Action.RESTART),
        (Stage.BUILDING, JobState.MISSING, False, 0, 1, Action.LEAVE),
        (Stage.MEASURING, JobState.MISSING, False, 0, GRACE, Action.RESTART),
        (Stage.MEASURING, JobState.OVER, False, 0, GRACE, Action.RESTART),
    ],
)
def test_the_rule(
    stage: Stage, job: JobState, leased: bool, unmoved: float, abandoned: float, action: Action
) -> None:
    situation = Situation(stage, job, leased, False, unmoved, abandoned)
    assert decide(situation, Patience()) is action


def test_a_queue_that_is_served_is_waited_for_longer() -> None:
    waiting = Situation(Stage.QUEUED, JobState.WAITING, False, True, HOUR, 0)
    assert decide(waiting, Patience()) is Action.LEAVE


def test_what_waits_is_left_alone(parts: Parts) -> None:
    name = submit(parts).id
    sweep(parts, GRACE, GRACE)
    assert parts.service.submission_detail(name).attempt == 1
    assert parts.connection.llen("rq:queue:build") == 1


def test_a_submission_whose_job_was_lost_is_queued_again(parts: Parts) -> None:
    name = submit(parts).id
    parts.connection.flushall()
    assert state_of(parts, name) is JobState.MISSING
    sweep(parts)
    assert state_of(parts, name) is JobState.WAITING
    assert parts.service.submission_detail(name).attempt == 1


def test_a_submission_made_while_redis_was_down_is_queued_later(parts: Parts) -> None:
    assert parts.embedded is not None
    server = parts.embedded
    parts.connection.shutdown(nosave=True)
    name = submit(parts).id
    assert parts.service.submission_detail(name).stage is Stage.QUEUED
    server.ensure()
    sweep(parts)
    assert state_of(parts, name) is JobState.WAITING


def test_an_attempt_whose_worker_died_is_tried_again(parts: Parts) -> None:
    name = submit(parts).id
    take(parts, name)
    publisher(parts, name).stage("building", "compiling")
    consume(parts)
    sweep(parts, GRACE)
    detail = parts.service.submission_detail(name)
    assert (detail.stage, detail.attempt) == (Stage.QUEUED, 2)
    assert state_of(parts, name) is JobState.WAITING
    assert not parts.connection.exists(f"rq:job:{job_id('build', name, 1)}")


def test_a_job_that_is_stuck_on_its_way_to_a_worker_is_tried_again(parts: Parts) -> None:
    """As when Redis is full at the moment in which a worker takes it."""
    name = submit(parts).id
    parts.connection.lmove("rq:queue:build", "rq:queue:build:intermediate", "LEFT", "RIGHT")
    sweep(parts, GRACE)
    assert parts.service.submission_detail(name).attempt == 2
    assert state_of(parts, name) is JobState.WAITING


def test_a_held_attempt_is_left_alone(parts: Parts) -> None:
    name = submit(parts).id
    take(parts, name)
    with lease(parts.connection, payload(parts, name)) as held:
        assert held
        sweep(parts, GRACE, GRACE)
    assert parts.service.submission_detail(name).attempt == 1


def test_a_hold_that_would_last_an_hour_is_none(parts: Parts) -> None:
    """Where the wall clock was set back, what Redis lets expire by it stays."""
    name = submit(parts).id
    take(parts, name)
    parts.connection.set(lease_key(name, 1), "a dead worker", ex=3600)
    sweep(parts, GRACE)
    assert parts.service.submission_detail(name).attempt == 2


def test_who_comes_back_to_what_was_given_up_is_turned_away(parts: Parts) -> None:
    """A worker that stood still for so long ends, instead of holding what is over."""
    name = submit(parts).id
    take(parts, name)
    publisher(parts, name).stage("building", "compiling")
    consume(parts)
    first = payload(parts, name)
    sweep(parts, GRACE)
    with lease(parts.connection, first) as held:
        assert not held
    with lease(parts.connection, payload(parts, name)) as held:
        assert held, "the second attempt is free"


def test_a_word_starts_the_patience_anew(parts: Parts) -> None:
    name = submit(parts).id
    take(parts, name)
    now = clock.steady()
    parts.reaper.sweep(now)
    publisher(parts, name).stage("building", "compiling")
    consume(parts)
    parts.reaper.sweep(now + GRACE)
    assert parts.service.submission_detail(name).attempt == 1
    parts.reaper.sweep(now + 2 * GRACE)
    assert parts.service.submission_detail(name).attempt == 2


def test_nothing_is_given_up_while_events_are_unread(parts: Parts) -> None:
    name = submit(parts).id
    take(parts, name)
    publisher(parts, name).report(report(payload(parts, name)))
    sweep(parts, GRACE, GRACE)
    assert parts.service.submission_detail(name).attempt == 1
    consume(parts)
    sweep(parts, GRACE, GRACE)
    assert parts.service.submission_detail(name).verdict is Verdict.CHECKED


def test_what_fails_for_ever_ends_in_a_judge_error(parts: Parts) -> None:
    name = submit(parts).id
    for attempt in range(1, MAX_ATTEMPTS + 1):
        assert parts.service.submission_detail(name).attempt == attempt
        take(parts, name, attempt)
        sweep(parts, GRACE)
    last = payload(parts, name)
    detail = parts.service.submission_detail(name)
    assert (detail.stage, detail.verdict) == (Stage.FINISHED, Verdict.JUDGE_ERROR)
    sweep(parts, GRACE)
    assert parts.service.submission_detail(name).attempt == MAX_ATTEMPTS
    with lease(parts.connection, last) as held:
        assert not held, "nor does anyone begin with it"


def test_without_a_worker_a_submission_ends_after_an_hour(parts: Parts) -> None:
    name = submit(parts).id
    sweep(parts, HOUR)
    detail = parts.service.submission_detail(name)
    assert detail.verdict is Verdict.JUDGE_ERROR
    assert "no worker" in detail.reason
    assert parts.connection.llen("rq:queue:build") == 0
    with lease(parts.connection, payload(parts, name)) as held:
        assert not held, "it may have been taken in that moment"


def test_with_a_worker_it_waits_for_its_turn(parts: Parts) -> None:
    beat(parts.connection)
    name = submit(parts).id
    sweep(parts, HOUR)
    assert parts.service.submission_detail(name).stage is Stage.QUEUED


def test_a_plan_that_waits_for_a_gpu_is_left_alone(parts: Parts) -> None:
    name = submit(parts).id
    take(parts, name)
    publisher(parts, name).stage("building", "compiling")
    consume(parts)
    parts.connection.hset(f"rq:job:{job_id('build', name, 1)}", "status", "finished")
    parts.connection.rpush("rq:queue:measure:H200", job_id("measure", name, 1))
    sweep(parts, GRACE, GRACE)
    assert parts.service.submission_detail(name).attempt == 1
