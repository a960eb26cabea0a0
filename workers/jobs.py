"""What RQ calls: one function per stage, each judging one attempt of one submission."""

import ctypes
import hashlib
import logging
import os
import signal
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import Any

from rq import Queue, Retry
from rq.exceptions import DuplicateJobError
from rq.serializers import JSONSerializer

from kernels.catalog import TaskFolder
from kernels.contract import (
    Bundle,
    Durations,
    Report,
    Submission,
    Task,
    bundle_key,
    job_id,
)
from kernels.logs import about
from workers import gpu_health, gpu_lock, reports
from workers.answers import JudgeFault
from workers.building import Built, worth_keeping
from workers.building import build as run_build
from workers.checking import check
from workers.events import BuildNote, Publisher, build_note, lease
from workers.jail import JailClient, JailUnavailable
from workers.kernel_reports import kernel_reports
from workers.measuring import Measured
from workers.measuring import measure as run_measure
from workers.ours import host_values
from workers.plan_cache import CachedPlan, PlanCache, ReviewCache
from workers.rebuilding import Provenance, rebuild
from workers.release import folder_of
from workers.servers import socket_of
from workers.settings import Settings

_log = logging.getLogger(__name__)
_PR_SET_PDEATHSIG = 1
_MEASURING_SLACK_S = 300
"""For waiting for the GPU and asking whether it is healthy; RQ's timeout is an outer net."""
_SERVER_RESTART_S = 60.0
"""A fork server that died is back within seconds; an attempt waits for it."""


@dataclass(frozen=True)
class Attempt:
    """One attempt at one submission, with everything a stage needs."""

    submission: Submission
    folder: TaskFolder
    settings: Settings
    publisher: Publisher

    @property
    def task(self) -> Task:
        """What is judged."""
        return self.folder.task

    def jail(self, name: str, *held: int) -> JailClient:
        """A client of one of this host's fork servers, whose jails keep descriptors open."""
        return JailClient(socket_of(self.settings, name), _SERVER_RESTART_S, held)

    @property
    def facts(self) -> dict[str, Any]:
        """What every report says of this worker."""
        jail = os.environ.get("KERNELJUDGE_JAIL_LEVEL", "unknown")
        return {"environment": reports.environment(self.settings.host, jail)}


def build(payload: dict[str, Any]) -> str:
    """Queue `build`: make the launch plan, then pass it on or check it without a GPU."""
    return _judge(payload, _build)


def measure(payload: dict[str, Any]) -> str:
    """Queue `measure:<device>`: replay the plan on this worker's GPU."""
    return _judge(payload, _measure)


def _judge(payload: dict[str, Any], stage: Callable[[Attempt], Report | None]) -> str:
    """Run a stage while holding the attempt; a stage without a report leaves it to be measured."""
    _die_with_parent()
    settings = Settings.load()
    submission = Submission.model_validate(payload)
    connection = settings.connect()
    subject = about(submission=submission.id, attempt=str(submission.attempt))
    with subject, lease(connection, submission) as held:
        if not held:
            return "another worker holds this attempt"
        publisher = Publisher(connection, submission, settings.host)
        lasting = False
        try:
            attempt = _attempt(submission, settings, publisher)
            report = stage(attempt)
        except gpu_health.OutOfService:
            raise  # RQ puts the job back
        except JudgeFault as fault:
            _log.error("attempt %s: %s\n%s", publisher.attempt, fault, fault.detail)
            report, lasting = reports.judge_error(submission, str(fault)), fault.lasting
        except JailUnavailable as fault:
            _log.error("attempt %s: %s", publisher.attempt, fault)
            report = reports.judge_error(submission, "the jail of this worker does not answer")
        except Exception:  # noqa: BLE001  RQ would tell nobody: the service must hear
            _log.exception("attempt %s", publisher.attempt)
            report = reports.judge_error(submission, "a worker failed; its log says why")
        if report is not None:
            publisher.report(report, lasting=lasting)
            return report.verdict.value
    # Only when the lease is free: an idle measurer would find the attempt still held.
    _queue_measuring(attempt)
    return "passed on"


def _attempt(submission: Submission, settings: Settings, publisher: Publisher) -> Attempt:
    folder = folder_of(settings, submission.task, submission.task_version)
    return Attempt(submission, folder, settings, publisher)


def _build(attempt: Attempt) -> Report | None:
    submission = attempt.submission
    built = _built(attempt)
    note = BuildNote(seconds=built.seconds, cached=built.cached, log=reports.shorten(built.log))
    if built.failure is not None or built.bundle is None:
        assert built.failure is not None  # Built's invariant
        return reports.failed(submission, built.failure, **_told(note), **attempt.facts)
    attempt.publisher.note_build(note)
    attempt.publisher.stage("building", _found(built.bundle, built.seconds))
    _publish(attempt, built.bundle)
    if submission.measured:
        return None
    return _checked(attempt, built.bundle, note)


def _built(attempt: Attempt) -> Built:
    """The plan from the cache, or from the jail."""
    started = time.monotonic()
    values = host_values(attempt.task, attempt.folder.reference, attempt.jail("measure"))
    cache = PlanCache(attempt.settings.connect(), attempt.submission, attempt.task, values)
    known = cache.get()
    if known is not None:
        attempt.publisher.stage("building", "taking the plan from the cache")
        return Built(known.bundle, None, known.log, time.monotonic() - started, cached=True)
    attempt.publisher.stage("building", "compiling for " + attempt.submission.device.value)
    built = run_build(attempt.submission, attempt.task, attempt.jail("build"), values)
    if built.bundle is not None and worth_keeping(built, attempt.task):
        cache.put(CachedPlan(built.bundle, built.log))
    return built


def _found(bundle: Bundle, seconds: float) -> str:
    """What a build came to, for who waits."""
    kernels, cases = len(bundle.plan.kernels), len(bundle.plan.cases)
    each = "1 kernel" if kernels == 1 else f"{kernels} kernels"
    return f"found {each} for {cases} cases in {seconds:.1f} s"


def _publish(attempt: Attempt, bundle: Bundle) -> None:
    packed = bundle.pack()
    attempt.publisher.built(packed, hashlib.sha256(packed).hexdigest())


def _checked(attempt: Attempt, bundle: Bundle, note: BuildNote) -> Report:
    count = sum(case.interpreted for case in attempt.task.cases)
    attempt.publisher.stage("building", f"checking {count} cases on the CPU interpreter")
    with ThreadPoolExecutor(1) as pool:
        rebuilding = pool.submit(_provenance, attempt, bundle)
        checked = check(
            attempt.submission,
            attempt.task,
            attempt.folder.reference,
            bundle.plan,
            attempt.jail("interpret"),
            attempt.jail("measure"),
        )
        provenance = rebuilding.result()
    told = _told(note) | {
        "log": note.log + checked.log,
        "durations": Durations(build=note.seconds, check=checked.seconds),
    }
    return reports.judged(
        attempt.submission,
        checked.cases,
        provenance.failure,
        caveats=checked.caveats,
        diagnostics=checked.diagnostics,
        kernels=kernel_reports(bundle.plan, attempt.task, provenance),
        rebuilt=provenance.outcome,
        **told,
        **attempt.facts,
    )


def _provenance(attempt: Attempt, bundle: Bundle) -> Provenance:
    """Whether clean processes make the same cubins; the disassembly joins the stored plan."""
    cache = ReviewCache(attempt.settings.connect(), bundle.plan)
    review = cache.get()
    if review is None:
        review = rebuild(bundle, attempt.task, attempt.jail("build"))
        cache.put(review)
    _publish(attempt, bundle.with_texts("sass", review.sass))
    return review.provenance


def _told(note: BuildNote | None) -> dict[str, Any]:
    """What a report says of the build."""
    if note is None:
        return {}
    durations = Durations(build=note.seconds)
    return {"log": note.log, "plan_cached": note.cached, "durations": durations}


def _queue_measuring(attempt: Attempt) -> None:
    """Hand the plan in Redis to a measurer; may be called twice for one attempt."""
    submission, bounds = attempt.submission, attempt.task.limits
    queue = Queue(
        f"measure:{submission.device.value}",
        connection=attempt.settings.connect(),
        serializer=JSONSerializer,
    )
    try:
        queue.enqueue(
            "workers.jobs.measure",
            submission.model_dump(mode="json"),
            job_id=job_id("measure", submission.id, submission.attempt),
            unique=True,
            retry=Retry(max=2),
            job_timeout=int(bounds.measure + bounds.build_wall) + _MEASURING_SLACK_S,
            result_ttl=3600,
            failure_ttl=86_400,
            description=f"measure {submission.id}-{submission.attempt}",
        )
    except DuplicateJobError:
        return  # An earlier run of this job got this far before it was repeated.


def _measure(attempt: Attempt) -> Report | None:
    submission, task = attempt.submission, attempt.task
    attempt.publisher.stage("measuring", "replaying on the GPU")
    key = bundle_key(submission.id, submission.attempt)
    packed = attempt.settings.connect().get(key)
    if not isinstance(packed, bytes):
        raise JudgeFault("the built plan is no longer in Redis")
    bundle = Bundle.unpack(packed)
    if bundle.plan.target.triton != reports.version("triton"):
        raise JudgeFault("builder and measurer have different Triton versions: update them to one")
    device = os.environ["KERNELJUDGE_MEASURE_SERVER"]
    with ThreadPoolExecutor(1) as pool:
        rebuilding = pool.submit(_provenance, attempt, bundle)
        with gpu_lock.held(device, attempt.settings.runtime_dir, task.limits.measure) as lock:
            measurer = attempt.jail(device, lock)
            measuring = partial(
                run_measure, submission, task, attempt.folder.reference, packed, measurer
            )
            note = gpu_health.note_of(attempt.settings, device)
            measured = gpu_health.watched(measuring, measurer, note)
        provenance = rebuilding.result()
    return _measured(attempt, bundle, measured, provenance)


def _measured(
    attempt: Attempt, bundle: Bundle, measured: Measured, provenance: Provenance
) -> Report:
    told = _told(build_note(attempt.settings.connect(), attempt.submission))
    durations = told.get("durations", Durations()).model_copy(update={"measure": measured.seconds})
    facts: dict[str, Any] = (
        attempt.facts
        | told
        | {
            "log": told.get("log", "") + measured.log,
            "kernels": kernel_reports(bundle.plan, attempt.task, provenance),
            "rebuilt": provenance.outcome,
            "durations": durations,
            "gpu": measured.gpu,
            "ceilings": measured.ceilings,
        }
    )
    if measured.environment is not None:
        facts["environment"] = measured.environment.model_copy(
            update={"jail": facts["environment"].jail, "worker": attempt.settings.host}
        )
    if measured.failure is not None and provenance.failure is None:
        return reports.failed(attempt.submission, measured.failure, **facts)
    return reports.judged(attempt.submission, measured.cases, provenance.failure, **facts)


def _die_with_parent() -> None:
    """A work horse must not go on as an orphan while another worker repeats its job."""
    parent = os.getppid()
    ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(1)
