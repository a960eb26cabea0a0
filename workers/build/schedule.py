"""The cases of a build as forked processes: side by side, watched, and started over if need be."""

import contextlib
import itertools
import os
import select
import signal
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from kernels.contract.limits import PATIENCE
from workers.build.budget import Budget, processor_time
from workers.build.claims import Claim, Claims
from workers.build.failures import BuildFailed

_REMEDY = "look for a loop or a wait without end, or compile fewer kernels and configurations"
_STARVED = (
    "the host function left its process without files, descriptors or room in the scratch folder",
    "keep no files, and leave the process's limits and folders as they are",
)
_WATCH_SECONDS = 0.1
ANSWERED, FAILED, STARVED = 30, 31, 32
"""Exit statuses of a process that wrote its answer, or why it has none, or could do neither."""


@dataclass
class Job:
    """A process for one case."""

    number: int
    """Index of the case."""
    helper: bool
    """It only compiles ahead for the case; nobody reads its answer."""
    slot: int
    """Of the budget."""
    pid: int = 0
    end: int = -1
    """Its pidfd, which can be read once it has ended."""


@dataclass
class Schedule:
    """Runs `work(number, helper)` for each case in a child of its own.

    As soon as no case is left to start, free processors help with those that still run. A child
    that compiles one kernel for too long, or dies of it, is started over without that kernel.
    """

    cases: int
    work: Callable[[int, bool], int]
    """Run in the child; returns its exit status."""
    claims: Claims
    processors: int
    budget: Budget
    kernel_seconds: float
    """Of processor time, for each kernel."""
    _running: list[Job] = field(default_factory=list)
    _helped: set[int] = field(default_factory=set)
    _waiting: list[int] = field(default_factory=list)
    _open: set[int] = field(default_factory=set)
    _watched: float = 0.0

    def run(self) -> None:
        """Until all cases, or all before one that failed, have answered.

        BuildFailed if one cannot answer, or time is up.
        """
        self._waiting = list(range(self.cases))
        self._open = set(self._waiting)
        self.budget.watch()
        try:
            while self._open:
                self._start()
                for job, status in self._ended():
                    self._judge(job, status)
                self._watch()
                wait_for([job.end for job in self._running], _WATCH_SECONDS)
        finally:
            self._stop(self._running)

    def _start(self) -> None:
        while len(self._running) < self.processors:
            if self._waiting:
                self._fork(self._waiting.pop(0), helper=False)
                continue
            number = next((j.number for j in self._running if j.number not in self._helped), None)
            if number is None:
                return
            self._helped.add(number)
            self._fork(number, helper=True)

    def _fork(self, number: int, helper: bool) -> None:
        taken = {job.slot for job in self._running}
        job = Job(number, helper, slot=next(s for s in itertools.count(1) if s not in taken))
        flush()
        job.pid = os.fork()
        if job.pid == 0:
            try:
                self.budget.enter(job.slot)
                os._exit(self.work(job.number, job.helper))
            finally:
                os._exit(1)  # never back into the loop of the parent
        job.end = os.pidfd_open(job.pid)
        self._running.append(job)

    def _ended(self) -> Sequence[tuple[Job, int]]:
        ended = []
        for job in list(self._running):
            pid, status, use = os.wait4(job.pid, os.WNOHANG)
            if pid:
                self._running.remove(job)
                forget(job.end)
                self.budget.close(job.slot, use.ru_utime + use.ru_stime)
                ended.append((job, os.waitstatus_to_exitcode(status)))
        return ended

    def _judge(self, job: Job, status: int) -> None:
        interrupted = self._bar_interrupted(job, status)
        if job.helper:
            return
        if status in (ANSWERED, FAILED):
            self._open.discard(job.number)
            if status == FAILED:
                self._open = {number for number in self._open if number < job.number}
                self._waiting.clear()
        elif status == STARVED:
            raise BuildFailed("build_error", *_STARVED)
        elif interrupted:
            self._waiting.insert(0, job.number)
        else:
            raise BuildFailed("build_error", *ended(_spoken(status)))

    def _bar_interrupted(self, job: Job, status: int) -> bool:
        """Whether the process ended while it compiled; that kernel is not tried again."""
        claims = self.claims.held_by(job.pid)
        for claim in claims:
            if self.claims.barred(claim.key) is None:
                reason = f"the compiler crashed on {claim.function} ({_spoken(status)})"
                self.claims.bar(claim.key, "build_error", reason)
            self.claims.release(claim.key)
        return bool(claims)

    def _watch(self) -> None:
        now = time.monotonic()
        if now < self._watched + _WATCH_SECONDS:
            return
        self._watched = now
        claims = self.claims.all()
        for job in self._running:
            self.budget.observe(job.slot, processor_time(job.pid))
        exceeded = self.budget.exceeded()
        if exceeded is not None:
            reason = _too_late(exceeded, [claim.function for claim in claims])
            raise BuildFailed("timeout", reason, _REMEDY)
        for claim in claims:
            if claim.owner in {job.pid for job in self._running} and self._endless(claim):
                reason = f"{claim.function} did not compile within {self.kernel_seconds:.3g} s"
                self.claims.bar(claim.key, "timeout", reason)
                os.kill(claim.owner, signal.SIGKILL)

    def _endless(self, claim: Claim) -> bool:
        return max(claim.used, claim.age / PATIENCE) > self.kernel_seconds

    def _stop(self, jobs: list[Job]) -> None:
        for job in jobs:
            os.kill(job.pid, signal.SIGKILL)
            os.waitpid(job.pid, 0)


def wait_for(ends: Sequence[int], seconds: float) -> None:
    """Until one of some processes has ended, given their pidfds, but no longer than that.

    Asking again and again would take a tenth of the processor time of a build.
    """
    poll = select.poll()
    for end in ends:
        poll.register(end, select.POLLIN)
    poll.poll(seconds * 1e3)


def forget(end: int) -> None:
    """Close a pidfd; submitted code that still runs in this process may have done so."""
    with contextlib.suppress(OSError):
        os.close(end)


def flush() -> None:
    """Write out what submitted code printed, so that no child prints it again."""
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError, AttributeError):
            stream.flush()


def silence() -> None:
    """Send what this process prints nowhere."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.dup2(nowhere, 2)


def ended(how: str) -> tuple[str, str]:
    """Reason and remedy for host code that left without an answer."""
    return f"the host function ended its process ({how})", "return the result instead"


def _spoken(status: int) -> str:
    if status < 0:
        return signal.Signals(-status).name
    return f"exit code {status}"


def _too_late(exceeded: str, functions: list[str]) -> str:
    doing = f"compiling {', '.join(functions[:3])}" if functions else "running the host function"
    return f"building took more than {exceeded}: it was still {doing}"
