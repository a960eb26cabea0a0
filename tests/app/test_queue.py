"""The queue client against real Redis."""

import json
import zlib

from rq import Queue
from rq.job import Job
from rq.serializers import JSONSerializer

from app.main import Parts
from app.queue import BUILD_JOB, JobState
from kernels.contract import Submission, TimeLimits, job_id
from tests.app.judging import payload, submit


def job_of(parts: Parts, submission: str) -> Job:
    name = job_id("build", submission, 1)
    return Job.fetch(name, parts.connection, serializer=JSONSerializer)


def test_a_job_names_its_function_and_carries_the_submission_as_json(parts: Parts) -> None:
    name = submit(parts).id
    job = job_of(parts, name)
    assert job.func_name == BUILD_JOB
    assert Submission.model_validate(job.args[0]) == payload(parts, name)
    assert job.timeout > TimeLimits().build + TimeLimits().interpret_wall
    assert job.retries_left == 2
    stored = parts.connection.hget(job.key, "data")
    assert isinstance(stored, bytes)
    json.loads(zlib.decompress(stored))  # never a pickle


def test_the_source_is_not_in_the_description_that_workers_log(parts: Parts) -> None:
    job = job_of(parts, submit(parts).id)
    assert "import" not in job.description


def test_queueing_an_attempt_again_changes_nothing(parts: Parts) -> None:
    name = submit(parts).id
    parts.queue.enqueue(payload(parts, name), TimeLimits())
    assert parts.queue.lengths([]) == {"build": 1}


def test_a_job_between_queue_and_worker_is_taken(parts: Parts) -> None:
    name = submit(parts).id
    queue = Queue("build", connection=parts.connection)
    parts.connection.lmove(queue.key, queue.intermediate_queue_key, "LEFT", "RIGHT")
    assert parts.queue.state(parts.queue.snapshot(), name, 1) is JobState.STARTED


def test_the_states_of_a_job(parts: Parts) -> None:
    name = submit(parts).id
    key = f"rq:job:{job_id('build', name, 1)}"
    parts.connection.delete("rq:queue:build")
    for status, state in (
        ("started", JobState.STARTED),
        ("failed", JobState.OVER),
        ("finished", JobState.OVER),
    ):
        parts.connection.hset(key, "status", status)
        assert parts.queue.state(parts.queue.snapshot(), name, 1) is state
    parts.queue.remove(name, 1)
    assert parts.queue.state(parts.queue.snapshot(), name, 1) is JobState.MISSING
