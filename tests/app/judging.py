"""Plays the workers' part: submits, and says what workers say, by their own publisher."""

import hashlib
import threading
from datetime import UTC, datetime

import redis

from app.main import Parts
from app.schemas import SubmissionDetail, SubmitRequest
from app.store import submissions
from kernels.contract import (
    HARNESS_VERSION,
    CaseResult,
    DeviceName,
    Report,
    Submission,
    Timing,
    Verdict,
    WorkerInfo,
    worker_key,
)
from kernels.contract.worker import EXPIRY_SECONDS
from workers.events import Publisher
from workers.reports import Judged

SOURCE = "import triton\n\ndef solve(x):\n    return x\n"
WORKER = "build-1@test"


def submit(parts: Parts, user: str = "local", source: str = SOURCE) -> SubmissionDetail:
    """A new softmax submission."""
    return parts.service.submit(SubmitRequest(task="softmax", source=source), user=user).submission


def payload(parts: Parts, submission: str) -> Submission:
    """What a worker gets of it."""
    with parts.store.read() as session:
        row = submissions.by_id(session, submission)
        assert row is not None
        return submissions.payload(row, row.source)


def submission() -> Submission:
    """An attempt that no service knows of."""
    return Submission(
        id="s1", attempt=1, task="softmax", task_version=1, device=DeviceName.H200,
        measured=True, entry="solve", source=SOURCE,
    )  # fmt: skip


def publisher(parts: Parts, submission: str, attempt: int | None = None) -> Publisher:
    """A worker's voice, for the present attempt or another."""
    given = payload(parts, submission)
    if attempt is not None:
        given = given.model_copy(update={"attempt": attempt})
    return Publisher(parts.connection, given, WORKER)


def consume(parts: Parts) -> None:
    """Let the service read everything that was said."""
    stop = threading.Event()
    while parts.events.consume(stop) or parts.events.backlog():
        pass


def say_built(parts: Parts, submission: str, bundle: bytes) -> None:
    """A plan was built; the service only keeps it, so any bytes will do."""
    publisher(parts, submission).built(bundle, hashlib.sha256(bundle).hexdigest())


def report(
    given: Judged,
    verdict: Verdict = Verdict.CHECKED,
    *,
    microseconds: float = 10.0,
    spread: float = 0.0,
    harness: int = HARNESS_VERSION,
) -> Report:
    """A report of one case; `spread` is the relative half width of its interval."""
    measured = verdict in (Verdict.ACCEPTED, Verdict.IMPLAUSIBLE)
    reason = "" if verdict.passed else f"it is {verdict.value}"
    timing = _timing(microseconds, spread) if measured else None
    case = CaseResult(case="c", kind="benchmark", verdict=verdict, reason=reason, timing=timing)
    return Report(
        submission=given.id,
        attempt=given.attempt,
        task=given.task,
        task_version=given.task_version,
        device=given.device,
        verdict=verdict,
        reason=reason,
        cases=(case,),
        score=microseconds if measured else None,
        harness=harness,
        finished_at=datetime.now(UTC),
    )


def judge(parts: Parts, user: str, microseconds: float, spread: float = 0.0) -> SubmissionDetail:
    """A submission that is accepted with that score."""
    name = submit(parts, user).id
    given = payload(parts, name)
    verdict = Verdict.ACCEPTED
    publisher(parts, name).report(report(given, verdict, microseconds=microseconds, spread=spread))
    consume(parts)
    return parts.service.submission_detail(name)


def beat(connection: redis.Redis, lasting: int = EXPIRY_SECONDS, /, **fields: object) -> None:
    """A worker's heartbeat for so many seconds; by default of a builder in a complete jail."""
    now = datetime.now(UTC)
    known: dict[str, object] = {
        "name": WORKER,
        "host": "test",
        "role": "build",
        "versions": {"python": "3.11"},
        "jail": "complete",
        "jail_complete": True,
        "state": "idle",
        "started_at": now,
        "seen_at": now,
    }
    info = WorkerInfo.model_validate(known | fields)
    connection.set(worker_key(info.name), info.model_dump_json(), ex=lasting)


def _timing(microseconds: float, spread: float) -> Timing:
    return Timing(
        microseconds=microseconds,
        low=microseconds * (1 - spread),
        high=microseconds * (1 + spread),
        samples=(microseconds,),
        flops_per_second=1e12,
        bytes_per_second=1e12,
        floor_microseconds=microseconds / 2,
        roofline=0.5,
        bound="memory",
    )
