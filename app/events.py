"""Reads what workers say from the stream into the database; an entry is gone once committed."""

import hashlib
import json
import logging
import os
import secrets
import socket
import threading
from typing import Any, Protocol

import redis
from pydantic import TypeAdapter, ValidationError
from sqlalchemy.exc import DataError, DBAPIError, IntegrityError
from sqlalchemy.exc import TimeoutError as PoolExhausted

from app.attempts import Attempts
from app.store import Store, progress, submissions
from app.store.progress import Attempt
from app.turns import Turns
from kernels.contract import (
    STREAM,
    BuiltEvent,
    Event,
    Report,
    ReportEvent,
    StageEvent,
    Verdict,
    bundle_key,
    limits,
)
from kernels.contract.bundle import first_problem
from kernels.contract.event import RerunEndEvent, RerunEvent, SittingEvent

GROUP = "app"
DEAD_LETTERS = "events:dead"
_DEAD_LETTERS_KEPT = 1000
_BATCH = 64
_CLAIM_IDLE_MS = 10_000
_READER_GONE_MS = 24 * 3600 * 1000
_MAX_DELIVERIES = 5
_RETRY_SECONDS = 0.5
_EVENT: TypeAdapter[Event] = TypeAdapter(Event)
_log = logging.getLogger(__name__)

Entry = tuple[bytes, dict[bytes, bytes]]


class EventRefused(ValueError):
    """A stream entry that can never be applied; the message says why."""


class RerunResults(Protocol):
    """Takes in what is said of reruns."""

    def apply(self, event: RerunEvent | SittingEvent | RerunEndEvent) -> None:
        """Take in one event; EventRefused."""

    def confirm(self, submission: str) -> None:
        """Ask for further sittings where a new standing is near the top of its board."""


class EventConsumer:
    """One reader of the group; several processes may each have one."""

    def __init__(
        self,
        store: Store,
        connection: redis.Redis,
        attempts: Attempts,
        reruns: RerunResults,
        turns: Turns,
    ) -> None:
        self._store = store
        self._redis = connection
        self._attempts = attempts
        self._reruns = reruns
        self._turns = turns
        self._name = f"{socket.gethostname()}-{os.getpid()}-{secrets.token_hex(4)}"

    def run(self, stop: threading.Event) -> None:
        """Consume until told to stop; Redis and the database may come and go."""
        forgotten = False
        while not stop.is_set():
            try:
                if not forgotten:
                    self.forget_readers()
                    forgotten = True
                self.consume(stop, block_ms=1000)
            except redis.RedisError as error:
                _log.warning("the event stream cannot be read: %s", error)
                stop.wait(_RETRY_SECONDS)

    def consume(self, stop: threading.Event, block_ms: int | None = None) -> int:
        """Apply what is there, first what others left behind; how many entries that was."""
        entries = self._abandoned()
        if not entries:
            entries = self._new(block_ms)
        for entry in entries:
            while not self._settled(entry):
                if stop.wait(_RETRY_SECONDS):
                    return 0
        if entries:
            self._turns.hand_out()
        return len(entries)

    def forget_readers(self, idle_ms: int = _READER_GONE_MS) -> None:
        """Take readers off the group's list that left nothing and have long been silent."""
        self._make_group()
        readers: Any = self._redis.xinfo_consumers(STREAM, GROUP)
        for reader in readers:
            if reader["pending"] == 0 and reader["idle"] >= idle_ms:
                self._redis.xgroup_delconsumer(STREAM, GROUP, reader["name"])

    def backlog(self) -> int:
        """Entries that are not applied yet."""
        return int(self._redis.xlen(STREAM))

    def _new(self, block_ms: int | None) -> list[Entry]:
        try:
            answer: Any = self._redis.xreadgroup(
                GROUP, self._name, {STREAM: ">"}, count=_BATCH, block=block_ms
            )
        except redis.ResponseError as error:
            if "NOGROUP" not in str(error):
                raise
            self._make_group()
            return []
        return [entry for _, entries in answer for entry in entries]

    def _abandoned(self) -> list[Entry]:
        try:
            answer: Any = self._redis.xautoclaim(
                STREAM, GROUP, self._name, min_idle_time=_CLAIM_IDLE_MS, count=_BATCH
            )
        except redis.ResponseError as error:
            if "NOGROUP" not in str(error):
                raise
            self._make_group()
            return []
        return [entry for entry in answer[1] if not self._poisonous(entry)]

    def _poisonous(self, entry: Entry) -> bool:
        """Bury an entry that has brought down whoever touched it."""
        pending: Any = self._redis.xpending_range(
            STREAM, GROUP, min=entry[0], max=entry[0], count=1
        )
        if not pending or pending[0]["times_delivered"] <= _MAX_DELIVERIES:
            return False
        self._bury(entry, f"not applied after {_MAX_DELIVERIES} deliveries")
        self._acknowledge(entry[0])
        return True

    def _make_group(self) -> None:
        try:
            self._redis.xgroup_create(STREAM, GROUP, id="0", mkstream=True)
        except redis.ResponseError as error:
            if "BUSYGROUP" not in str(error):
                raise

    def _settled(self, entry: Entry) -> bool:
        """Whether an entry needs no further try; False while the database is away."""
        try:
            event = _parse(entry[1])
            self._apply(event, entry[0].decode())
        except (EventRefused, DataError, IntegrityError) as error:
            self._bury(entry, str(error))
        except (DBAPIError, PoolExhausted) as error:
            _log.warning("an event waits for the database: %s", error)
            return False
        self._acknowledge(entry[0])
        return True

    def _apply(self, event: Event, stream_id: str) -> None:
        match event:
            case RerunEvent() | SittingEvent() | RerunEndEvent():
                self._reruns.apply(event)
                return
            case StageEvent():
                with self._store.write() as session:
                    progress.advance(session, event, stream_id)
            case BuiltEvent():
                self._keep_plan(event)
            case ReportEvent():
                self._finish(event)
        self._attempts.announce(event.submission)

    def _keep_plan(self, event: BuiltEvent) -> None:
        bundle = self._bundle(event)
        if bundle is not None:
            with self._store.write() as session:
                progress.keep_plan(session, event, bundle)

    def _bundle(self, event: BuiltEvent) -> bytes | None:
        key = bundle_key(event.submission, event.attempt)
        if self._redis.strlen(key) > limits.BUNDLE_BYTES:
            raise EventRefused("the plan is larger than any plan may be")
        bundle = self._redis.get(key)
        if not isinstance(bundle, bytes) or hashlib.sha256(bundle).hexdigest() != event.plan:
            _log.warning("%s: the plan is gone or replaced", event.submission)
            return None
        return bundle

    def _finish(self, event: ReportEvent) -> None:
        report, attempt = event.report, Attempt(event.submission, event.attempt)
        self._check(report, attempt)
        if report.verdict is Verdict.JUDGE_ERROR:
            end = self._attempts.fail if event.lasting else self._attempts.give_up
            end(attempt, report.reason)
            return
        with self._store.write() as session:
            progress.finish(session, report)
            stored = progress.has_plan(session, attempt)
        if stored:
            self._redis.delete(bundle_key(attempt.submission, attempt.number))
        if report.verdict is Verdict.ACCEPTED:
            self._reruns.confirm(attempt.submission)

    def _check(self, report: Report, attempt: Attempt) -> None:
        if (report.submission, report.attempt) != (attempt.submission, attempt.number):
            raise EventRefused("the report is about another submission or attempt")
        with self._store.read() as session:
            row = submissions.by_id(session, attempt.submission)
        if row is None:
            raise EventRefused("no such submission")
        expected = (row.task, row.task_version, row.device)
        if (report.task, report.task_version, report.device) != expected:
            raise EventRefused("the report is about another task or device")

    def _bury(self, entry: Entry, reason: str) -> None:
        _log.error("an event is refused: %s", reason[:500])
        letter = {
            "id": entry[0].decode(),
            "reason": reason[:500],
            "event": entry[1].get(b"event", b"")[:2000].decode(errors="replace"),
        }
        self._redis.lpush(DEAD_LETTERS, json.dumps(letter))
        self._redis.ltrim(DEAD_LETTERS, 0, _DEAD_LETTERS_KEPT - 1)

    def _acknowledge(self, stream_id: bytes) -> None:
        with self._redis.pipeline() as pipe:
            pipe.xack(STREAM, GROUP, stream_id)
            pipe.xdel(STREAM, stream_id)
            pipe.execute()


def _parse(fields: dict[bytes, bytes]) -> Event:
    body = fields.get(b"event")
    if body is None:
        raise EventRefused("the entry has no field 'event'")
    try:
        return _EVENT.validate_json(body)
    except ValidationError as error:
        raise EventRefused(first_problem(error)) from None
