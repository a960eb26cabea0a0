"""One GPU measures one plan at a time, however many measurers were started for it."""

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from workers.answers import JudgeFault

_MACHINE_WIDE = Path("/run/kerneljudge-gpu-locks")
_LOOK_AGAIN_S = 0.02


@contextmanager
def held(gpu: str, runtime_dir: Path, seconds: float) -> Iterator[int]:
    """Hold a GPU; JudgeFault if others hold it for longer than `seconds`.

    Yields the descriptor of the lock. Whoever has it open holds the GPU: lend it to what measures.
    """
    folder = _MACHINE_WIDE if os.geteuid() == 0 else runtime_dir / "gpu-locks"
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    with (folder / gpu).open("w") as lock:
        _take(lock.fileno(), time.monotonic() + seconds)
        yield lock.fileno()


def _take(lock: int, deadline: float) -> None:
    while True:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() > deadline:
                raise JudgeFault("another measurer does not let go of the GPU") from None
            time.sleep(_LOOK_AGAIN_S)
        else:
            return
