"""Watching one jail: its pipes, its deadline and its use of the machine."""

import os
import select
import signal
import time
from collections.abc import Callable
from pathlib import Path

from workers.jail import frame, processes
from workers.jail.capture import HeadAndTail
from workers.jail.cell import READY, Pipes
from workers.jail.cgroup import Group
from workers.jail.outcome import JailUnavailable, Status
from workers.jail.profile import Limits

_CHECK_EVERY_S = 0.05
_DEATH_S = 10.0
_READ_BYTES = 1 << 16
_MOST_READY_BYTES = 4096
_STILL_SHARE = 0.02
"""Of one processor; what uses less waits for something that may not come."""


class Watch:
    """Reads what a jail writes and kills its first process when a limit is passed."""

    def __init__(
        self, limits: Limits, first: int, pipes: Pipes, client: int, group: Group | None = None
    ) -> None:
        self.output = HeadAndTail()
        self.result = bytearray()
        self.ready = bytearray()
        """Whether untrusted code was reached (READY), or why not."""
        self.status = bytearray()
        self.reason: Status | None = None
        """The limit for which the jail was killed."""
        self.client_gone = False
        self.peak_bytes = 0
        self.cpu_s = 0.0
        self.started = self._moved_at = time.monotonic()
        self._moved_cpu_s = 0.0
        self._limits = limits
        self._first = first
        self._group = group
        self._ended = False
        self._killed_at = 0.0
        self._next_check = 0.0
        self._poll = select.poll()
        self._handlers: dict[int, Callable[[], None]] = {}
        self._pipes: set[int] = set()
        self._read(pipes.output.reader, self._on_output)
        self._read(pipes.result.reader, self._on_result)
        self._read(pipes.ready.reader, self._on_ready)
        self._read(pipes.status.reader, self.status.extend)
        self._handle(os.pidfd_open(first), self._on_end)
        self._handle(client, lambda: self._on_client(client))

    def until_end(self, proc: Path, ancestor: int) -> None:
        """Return when the first process has ended, by itself or killed.

        `proc` is a mount of /proc that shows the jail, where the first process is `ancestor`.
        JailUnavailable if it does not die.
        """
        while not self._ended:
            for descriptor, _ in self._poll.poll(_CHECK_EVERY_S * 1000):
                if handler := self._handlers.get(descriptor):
                    handler()
            now = time.monotonic()
            if self._killed_at and now > self._killed_at + _DEATH_S:
                raise JailUnavailable(f"process {self._first} does not die: check the machine")
            if now >= self._next_check and not self._killed_at:
                self._next_check = now + _CHECK_EVERY_S
                self._check(now, proc, ancestor)

    def drain(self) -> None:
        """Read what is left in the pipes; their writers must be dead."""
        while self._pipes:
            self._handlers[next(iter(self._pipes))]()

    def _handle(self, descriptor: int, handler: Callable[[], None]) -> None:
        self._handlers[descriptor] = handler
        self._poll.register(descriptor, select.POLLIN)

    def _forget(self, descriptor: int) -> None:
        del self._handlers[descriptor]
        self._poll.unregister(descriptor)

    def _read(self, reader: int, take: Callable[[bytes], None]) -> None:
        def read() -> None:
            if data := os.read(reader, _READ_BYTES):
                take(data)
            else:
                self._forget(reader)
                self._pipes.discard(reader)

        self._pipes.add(reader)
        self._handle(reader, read)

    def _on_output(self, data: bytes) -> None:
        self.output.feed(data)
        if self.output.total > self._limits.output_bytes:
            self._kill(Status.OUTPUT)

    def _on_result(self, data: bytes) -> None:
        most = self._limits.result_bytes + frame.HEAD_BYTES
        if len(self.result) <= most:
            self.result += data
        if len(self.result) > most:
            self._kill(Status.RESULT)

    def _on_ready(self, data: bytes) -> None:
        self.ready += data[: _MOST_READY_BYTES - len(self.ready)]

    def _on_end(self) -> None:
        self._ended = True

    def _on_client(self, client: int) -> None:
        # A client says nothing after its request: this is its end.
        self.client_gone = True
        self._forget(client)
        self._kill(Status.TIMEOUT)

    def _kill(self, reason: Status) -> None:
        if self.reason is None:
            self.reason = reason
            self._killed_at = time.monotonic()
            os.kill(self._first, signal.SIGKILL)

    def _check(self, now: float, proc: Path, ancestor: int) -> None:
        if now > self.started + self._limits.wall_s:
            self._kill(Status.TIMEOUT)
        elif self.ready == READY:
            self._check_usage(proc, ancestor)

    def _check_usage(self, proc: Path, ancestor: int) -> None:
        try:
            usage = processes.usage(proc, ancestor)
        except OSError:
            return  # the jail has just ended, and its /proc with it
        memory = usage.memory_bytes
        if memory > self._limits.memory_bytes:
            # Forks count shared pages twice; the exact number is slow to get.
            most = self._limits.memory_bytes
            memory = processes.proportional_bytes(proc, usage.pids, most)
        self.peak_bytes = max(self.peak_bytes, memory)
        # A group also counts processes that ended and were never waited for.
        self.cpu_s = max(self.cpu_s, self._group.cpu_s() if self._group else usage.cpu_s)
        if memory > self._limits.memory_bytes:
            self._kill(Status.MEMORY)
        elif self.cpu_s > self._limits.cpu_s:
            self._kill(Status.CPU)
        elif self._stands_still():
            self._kill(Status.STILL)

    def _stands_still(self) -> bool:
        # What watches itself inside may be stopped, by a signal to its own process.
        passed = time.monotonic() - self._moved_at
        if self.cpu_s - self._moved_cpu_s > _STILL_SHARE * passed:
            self._moved_at, self._moved_cpu_s = time.monotonic(), self.cpu_s
            return False
        return passed > self._limits.still_s
