"""Talks to a running service as a client and as a worker."""

from collections.abc import Callable
from typing import Any

import httpx
from rq.job import Job
from rq.serializers import JSONSerializer

from app.redis_server import connect
from app.settings import Settings
from kernels.contract import Submission, job_id
from tests.app.judging import SOURCE, WORKER
from workers.events import Publisher


def post(
    client: httpx.Client, headers: dict[str, str] | None = None, **fields: Any
) -> httpx.Response:
    """Submit, by default a softmax."""
    body = {"task": "softmax", "source": SOURCE} | fields
    return client.post("/api/v1/submissions", json=body, headers=headers)


def speak(settings: Settings, name: str, work: Callable[[Publisher, Submission], None]) -> None:
    """Do as a worker does with the job of a submission's first attempt."""
    connection = connect(settings.redis_address)
    job = Job.fetch(job_id("build", name, 1), connection, serializer=JSONSerializer)
    given = Submission.model_validate(job.args[0])
    work(Publisher(connection, given, WORKER), given)
    connection.close()
