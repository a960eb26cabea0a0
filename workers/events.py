"""How workers speak to the service: events on a stream, leases on attempts, bundles by key."""

import logging
import os
import secrets
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any, Literal

import redis
from pydantic import Field

from kernels.contract import (
    STREAM,
    BuiltEvent,
    Event,
    Report,
    ReportEvent,
    StageEvent,
    Submission,
    bundle_key,
    lease_key,
)
from kernels.contract._model import Model
from kernels.contract.event import LEASE_REFRESH_SECONDS, LEASE_SECONDS
from kernels.contract.rerun import Rerun

_log = logging.getLogger(__name__)
_BUNDLE_SECONDS = 24 * 3600
"""A plan waits this long for a measurer and for the service to store it."""

_RENEW = """
local holder = redis.call('get', KEYS[1])
if holder and holder ~= ARGV[1] then return 0 end
redis.call('set', KEYS[1], ARGV[1], 'EX', ARGV[2])
return 1
"""
_RELEASE = "if redis.call('get',KEYS[1])==ARGV[1] then return redis.call('del',KEYS[1]) end"


class BuildNote(Model):
    """What a measurer's report says of the build, which another worker may have done."""

    seconds: float = Field(ge=0)
    cached: bool
    """Whether the plan was built before."""
    log: str = ""
    """What the submission printed."""


def build_note(connection: redis.Redis, submission: Submission) -> BuildNote | None:
    """The note on the build of an attempt; None if it is gone."""
    found = connection.get(_note_key(submission))
    return BuildNote.model_validate_json(found) if isinstance(found, bytes) else None


def _note_key(submission: Submission) -> str:
    return f"note:{submission.id}-{submission.attempt}"


class Publisher:
    """Publishes what happens to one attempt."""

    def __init__(self, connection: redis.Redis, submission: Submission, worker: str) -> None:
        self._redis = connection
        self._submission = submission
        self._worker = worker

    @property
    def attempt(self) -> str:
        """The attempt's name in logs."""
        return f"{self._submission.id}-{self._submission.attempt}"

    def stage(self, stage: Literal["building", "measuring"], detail: str) -> None:
        """Say that the attempt entered a stage or got on within it."""
        self._add(StageEvent(stage=stage, detail=detail, **self._common()))

    def note_build(self, note: BuildNote) -> None:
        """Leave a note for whoever writes the report."""
        self._redis.set(_note_key(self._submission), note.model_dump_json(), ex=_BUNDLE_SECONDS)

    def built(self, bundle: bytes, digest: str) -> None:
        """Leave the plan for the measurer and the service, in place of an earlier one."""
        key = bundle_key(self._submission.id, self._submission.attempt)
        self._redis.set(key, bundle, ex=_BUNDLE_SECONDS)
        self._add(BuiltEvent(plan=digest, **self._common()))

    def report(self, report: Report, *, lasting: bool = False) -> None:
        """Say how the attempt ended; a `lasting` judge error is not tried again."""
        self._add(ReportEvent(report=report, lasting=lasting, **self._common()))

    def _common(self) -> dict[str, Any]:
        return {
            "submission": self._submission.id,
            "attempt": self._submission.attempt,
            "worker": self._worker,
            "at": datetime.now(UTC),
        }

    def _add(self, event: Event) -> None:
        self._redis.xadd(STREAM, {"event": event.model_dump_json()})


def end_process() -> None:
    """End this work horse, and with it the jail that it waits for."""
    os.kill(os.getpid(), signal.SIGKILL)


@contextmanager
def lease(
    connection: redis.Redis, work: Submission | Rerun, lost: Callable[[], None] = end_process
) -> Iterator[bool]:
    """Hold an attempt while working on it; yields False if another worker holds it.

    The lease expires by itself when its holder dies, which tells the service to start over. One
    that expired too early, or was lost with all that Redis knew, is taken again; `lost` is called
    when another holds the attempt, or it was cancelled.
    """
    key, token = lease_key(work.id, work.attempt), secrets.token_hex(8)
    if not connection.set(key, token, nx=True, ex=LEASE_SECONDS):
        yield False
        return
    done = threading.Event()
    renewing = (connection, key, token, done, lost)
    renewer = threading.Thread(target=_renew, args=renewing, daemon=True)
    renewer.start()
    try:
        yield True
    finally:
        done.set()
        renewer.join()
        connection.eval(_RELEASE, 1, key, token)


def _renew(
    connection: redis.Redis,
    key: str,
    token: str,
    done: threading.Event,
    lost: Callable[[], None],
) -> None:
    while not done.wait(LEASE_REFRESH_SECONDS):
        try:
            held = connection.eval(_RENEW, 1, key, token, LEASE_SECONDS)
        except redis.RedisError as error:
            _log.warning("the lease %s cannot be renewed: %s", key, error)
            continue
        if not held:
            _log.warning("the lease %s was taken away", key)
            lost()
            return
