"""Plays the measurer's part in reruns."""

from datetime import UTC, datetime

from rq.job import Job
from rq.serializers import JSONSerializer

from app.main import Parts
from app.schemas import SubmissionDetail
from kernels.contract import Report, Verdict, job_id
from kernels.contract.event import RerunEndEvent
from kernels.contract.inspection import Inspection
from kernels.contract.rerun import Rerun, RerunKind, Turn
from tests.app.judging import WORKER, beat, consume, payload, publisher, report, say_built, submit
from workers.reruns import RerunPublisher

BUNDLE = b"a packed plan"
INSPECTION = Inspection(tool="compute-sanitizer 2025.3", cases=("tiny",), seconds=1.5)


def measurer(parts: Parts, **fields: object) -> None:
    """A measurer of an H200 that has every tool."""
    offered = {kind: "" for kind in RerunKind if kind.inspects}
    known = {"name": "m", "role": "measure", "device": "H200", "inspections": offered}
    beat(parts.connection, **known | fields)
    parts.service.presence._read_at = -1e9
    parts.service.presence._recorded.clear()


def accepted(
    parts: Parts, user: str = "local", microseconds: float = 10.0, spread: float = 0.002,
    verdict: Verdict = Verdict.ACCEPTED,
) -> SubmissionDetail:  # fmt: skip
    """A submission that was measured, with its plan."""
    name = submit(parts, user).id
    say_built(parts, name, BUNDLE)
    found = report(payload(parts, name), verdict, microseconds=microseconds, spread=spread)
    publisher(parts, name).report(found.model_copy(update={"rebuilt": "identical"}))
    consume(parts)
    return parts.service.submission_detail(name)


def job_of(parts: Parts, rerun: str, attempt: int = 1) -> Rerun:
    """What a measurer is given."""
    name = job_id("rerun", rerun, attempt)
    job = Job.fetch(name, parts.connection, serializer=JSONSerializer)
    return Rerun.model_validate(job.args[0])


def take(parts: Parts, rerun: str, attempt: int = 1) -> None:
    """What a worker does to a job that it takes from the queue."""
    name = job_id("rerun", rerun, attempt)
    parts.connection.lrem("rq:queue:measure:H200", 1, name)
    parts.connection.hset(f"rq:job:{name}", "status", "started")


def voice(parts: Parts, job: Rerun) -> RerunPublisher:
    """A measurer's voice."""
    return RerunPublisher(parts.connection, job, WORKER)


def sitting(
    job: Rerun, turn: Turn, microseconds: float = 10.0, spread: float = 0.002,
    verdict: Verdict = Verdict.ACCEPTED,
) -> Report:  # fmt: skip
    """What one turn gives."""
    about = job.model_copy(update={"id": turn.submission})
    return report(about, verdict, microseconds=microseconds, spread=spread)


def measured_again(
    parts: Parts, rerun: str, microseconds: float, verdict: Verdict = Verdict.ACCEPTED
) -> None:
    """All turns of a rerun give that."""
    job = job_of(parts, rerun)
    for turn in job.turns:
        voice(parts, job).sitting(turn, sitting(job, turn, microseconds, verdict=verdict))
    voice(parts, job).end(gpu_seconds=2.0)
    consume(parts)


def ended(job: Rerun, **fields: object) -> RerunEndEvent:
    """The last word of an attempt."""
    known = {"rerun": job.id, "attempt": job.attempt, "worker": WORKER, "at": datetime.now(UTC)}
    return RerunEndEvent.model_validate(known | fields)
