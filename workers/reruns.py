"""What RQ calls for a rerun: a stored plan, measured once more or looked at with a tool."""

import hashlib
import logging
import os
import secrets
import time
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from typing import Any

import redis

from kernels.contract import STREAM, DeviceName, Durations, Event, Report
from kernels.contract.event import RerunEndEvent, RerunEvent, SittingEvent
from kernels.contract.inspection import Inspection
from kernels.contract.rerun import Rerun, Turn, rerun_bundle_key
from workers import gpu_health, gpu_lock, reports
from workers.answers import JudgeFault
from workers.events import lease
from workers.host import die_with_parent
from workers.inspection import tools
from workers.inspection.availability import unavailable
from workers.inspection.looking import SECONDS, Look, NotInspected, look
from workers.inspection.running import ToolMissing
from workers.jail import JailClient, JailUnavailable
from workers.measuring import Measured
from workers.measuring import measure as run_measure
from workers.release import folder_of
from workers.servers import socket_of
from workers.settings import Settings

_log = logging.getLogger(__name__)
_SERVER_RESTART_S = 60.0


class RerunPublisher:
    """Publishes what happens to one attempt at a rerun."""

    def __init__(self, connection: redis.Redis, job: Rerun, worker: str) -> None:
        self._redis = connection
        self._job = job
        self._worker = worker

    def got_on(self, detail: str) -> None:
        """Say what is being done."""
        self._add(RerunEvent(detail=detail[:500], **self._common()))

    def sitting(self, turn: Turn, report: Report) -> None:
        """Say what one measurement gave."""
        self._add(SittingEvent(turn=turn, report=report, **self._common()))

    def end(self, inspection: Inspection | None = None, gpu_seconds: float = 0.0) -> None:
        """Say that all is done."""
        ended = RerunEndEvent(inspection=inspection, gpu_seconds=gpu_seconds, **self._common())
        self._add(ended)

    def fail(self, fault: str, *, final: bool = False) -> None:
        """Say why it is not; `final` if another attempt would not help."""
        self._add(RerunEndEvent(fault=fault[:500] or "unknown", final=final, **self._common()))

    def _common(self) -> dict[str, Any]:
        return {
            "rerun": self._job.id,
            "attempt": self._job.attempt,
            "worker": self._worker,
            "at": datetime.now(UTC),
        }

    def _add(self, event: Event) -> None:
        self._redis.xadd(STREAM, {"event": event.model_dump_json()})


class PlanOutdated(Exception):
    """A plan that passed once does not fit the present judge: no fault of its kernels."""


@dataclass(frozen=True)
class _Sitting:
    """What the report of a sitting is about."""

    id: str
    attempt: int
    task: str
    task_version: int
    device: DeviceName


@dataclass(frozen=True)
class _Work:
    """One attempt at a rerun, with everything it needs."""

    job: Rerun
    settings: Settings
    connection: redis.Redis
    publisher: RerunPublisher
    server: str
    """Name of the measuring server, which is that of the GPU's lock."""

    def gpu(self, seconds: float) -> AbstractContextManager[int]:
        """Hold the GPU; JudgeFault if others hold it for so long."""
        return gpu_lock.held(self.server, self.settings.runtime_dir, seconds)

    def bundle(self, submission: str) -> bytes:
        """A packed plan; JudgeFault if it is gone."""
        wanted = {plan.submission: plan.digest for plan in self.job.plans}
        found = self.connection.get(rerun_bundle_key(self.job.id, submission))
        if not isinstance(found, bytes) or hashlib.sha256(found).hexdigest() != wanted[submission]:
            raise JudgeFault("the stored plan is not in Redis")
        return found


def rerun(payload: dict[str, Any]) -> str:
    """Queue `measure:<device>`: do what a Rerun says while holding it."""
    die_with_parent()
    settings = Settings.load()
    job = Rerun.model_validate(payload)
    connection = settings.connect()
    with lease(connection, job) as held:
        if not held:
            return "another worker holds this attempt"
        publisher = RerunPublisher(connection, job, settings.host)
        server = os.environ["KERNELJUDGE_MEASURE_SERVER"]
        return _run(_Work(job, settings, connection, publisher, server))


def _run(work: _Work) -> str:
    job, publisher = work.job, work.publisher
    try:
        if job.kind.inspects:
            inspection = _inspect(work)
            publisher.end(inspection, inspection.seconds)
        else:
            publisher.end(gpu_seconds=_measure(work))
    except (NotInspected, PlanOutdated, ToolMissing) as refusal:
        publisher.fail(str(refusal), final=True)
        return "refused"
    except JudgeFault as fault:
        _log.error("rerun %s-%d: %s\n%s", job.id, job.attempt, fault, fault.detail)
        publisher.fail(str(fault))
        return "failed"
    except JailUnavailable as fault:
        _log.error("rerun %s-%d: %s", job.id, job.attempt, fault)
        publisher.fail("the jail of this worker does not answer")
        return "failed"
    except Exception:  # noqa: BLE001  RQ would tell nobody: the service must hear
        _log.exception("rerun %s-%d", job.id, job.attempt)
        publisher.fail("a worker failed; its log says why")
        return "failed"
    return "done"


def _measure(work: _Work) -> float:
    """Take every turn, in order; the GPU seconds they took."""
    folder = folder_of(work.settings, work.job.task, work.job.task_version)
    task = folder.task
    seconds = 0.0
    for place, turn in enumerate(work.job.turns, 1):
        work.publisher.got_on(f"measuring, {place} of {len(work.job.turns)}")
        bundle = work.bundle(turn.submission)
        about = _about(work.job, turn.submission)
        with work.gpu(task.limits.measure) as lock:
            path = socket_of(work.settings, work.server)
            jail = JailClient(path, _SERVER_RESTART_S, (lock,))
            measuring = partial(run_measure, about, task, folder.reference, bundle, jail)
            note = gpu_health.note_of(work.settings, work.server)
            measured = gpu_health.watched(measuring, jail, note)
        if measured.failure is not None and measured.failure.verdict == "rejected":
            raise PlanOutdated(f"the plan of {turn.submission}: {measured.failure.reason}")
        work.publisher.sitting(turn, _report(work, about, measured))
        seconds += measured.seconds
    return seconds


def _about(job: Rerun, submission: str) -> _Sitting:
    return _Sitting(submission, job.attempt, job.task, job.task_version, job.device)


def _report(work: _Work, about: _Sitting, measured: Measured) -> Report:
    jail = os.environ.get("KERNELJUDGE_JAIL_LEVEL", "unknown")
    here = reports.environment(work.settings.host, jail)
    if measured.environment is not None:
        update = {"jail": here.jail, "worker": here.worker}
        here = measured.environment.model_copy(update=update)
    facts: dict[str, Any] = {
        "environment": here,
        "durations": Durations(measure=measured.seconds),
        "gpu": measured.gpu,
        "ceilings": measured.ceilings,
        "log": measured.log,
    }
    if measured.failure is not None:
        return reports.failed(about, measured.failure, cases=measured.cases, **facts)
    return reports.judged(about, measured.cases, **facts)


def _inspect(work: _Work) -> Inspection:
    job, settings = work.job, work.settings
    refusal = unavailable(settings, job.kind)
    if refusal:
        raise NotInspected(refusal)
    folder = folder_of(settings, job.task, job.task_version)
    bundle = work.bundle(job.plans[0].submission)
    work.publisher.got_on(f"replaying under {tools.PROGRAMS[job.kind]}")
    started = time.monotonic()
    with work.gpu(folder.task.limits.measure + SECONDS) as lock:
        wanted = Look(
            kind=job.kind,
            task=folder.task,
            reference=folder.reference,
            device=job.device,
            bundle=bundle,
            configs={case: dict(configs) for case, configs in job.configs.items()},
            seed=secrets.randbits(63),
            gpu=int(work.server.rpartition("-")[2]),
            lock=lock,
        )
        found = look(wanted)
    seconds = time.monotonic() - started
    return found.model_copy(update={"seconds": seconds, "worker": settings.host})
