"""One jail: what it is made from and the pipes that lead out of it."""

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from workers.jail.level import JailLevel, Layer
from workers.jail.profile import Limits, Profile

Entry = Callable[[bytes], bytes]


@dataclass(frozen=True)
class Cell:
    """Everything that decides how one run is confined."""

    profile: Profile
    limits: Limits
    level: JailLevel
    uid: int
    mountpoint: Path
    """Any folder; the private root is mounted on it, visible in the jail alone."""
    scratch: Path
    """The scratch folder as the jail sees it."""

    def has(self, layer: Layer) -> bool:
        """Whether `layer` is applied."""
        return layer in self.level.layers

    @property
    def has_own_processes(self) -> bool:
        """Whether a /proc inside shows the processes of this jail and no others."""
        return all(self.has(layer) for layer in (Layer.PIDNS, Layer.MOUNTNS, Layer.PROC))


class Pipe(NamedTuple):
    """The two ends of a pipe."""

    reader: int
    writer: int


def open_pipe() -> Pipe:
    """A new pipe that programs do not inherit."""
    return Pipe(*os.pipe())


class Pipes(NamedTuple):
    """What a jail writes to."""

    output: Pipe
    """Standard output and error."""
    result: Pipe
    """The frame with the result."""
    ready: Pipe
    """READY, or what went wrong, before any untrusted code runs."""
    status: Pipe
    """How the inmate ended, from its init."""


READY = b"R"


@contextmanager
def reporting_failure(ready: int, who: str) -> Iterator[None]:
    """Tell the warden why a step of the set-up failed, expected or not."""
    try:
        yield
    finally:
        error = sys.exc_info()[1]
        if error is not None:
            os.write(ready, f"{who}: {error!r}".encode(errors="replace"))
