"""Running a tool on a replay, within its limits."""

import os
import signal
import subprocess
import sys
import tempfile
import threading
from dataclasses import dataclass
from pathlib import Path

from kernels.contract import limits
from kernels.contract.rerun import RerunKind
from workers.inspection import tools
from workers.inspection.confine import TOOL_UID
from workers.settings import ROOT

_OUTPUT_BYTES = 8 * limits.MIB
"""Of what a tool prints, and of its log; the rest is not read."""


class ToolMissing(Exception):
    """A tool is not installed; the text says what to do."""


@dataclass(frozen=True)
class Seen:
    """What a tool said."""

    output: str
    """Of the tool and of the replay, as it came."""
    log: str
    """The file that it wrote, if it wrote one."""
    returncode: int | None
    """None if it was ended at its deadline."""


def run_tool(
    kind: RerunKind, request: bytes, seconds: float, *, gpu: int = 0, lock: int | None = None
) -> Seen:
    """Replay a packed ReplayRequest under a tool, confined; ToolMissing, OSError.

    `gpu` is its index in PCI order; the tool keeps the descriptor `lock` open until it has ended.
    """
    program = tools.find(tools.PROGRAMS[kind])
    if program is None:
        raise ToolMissing(tools.missing(kind))
    with tempfile.TemporaryDirectory(prefix="kj-inspect-") as name:
        folder = Path(name)
        (folder / "request").write_bytes(request)
        if os.geteuid() == 0:
            for path in (folder, folder / "request"):
                os.chown(path, TOOL_UID, TOOL_UID)
        target = [sys.executable, "-m", "workers.measure.replay_once", str(folder / "request")]
        command = tools.command(kind, program, folder / "log", target)
        output, code = _run(command, folder, seconds, _environment(folder, gpu), lock)
        log = folder / "log"
        return Seen(output, _read(log) if log.is_file() else "", code)


def _run(
    command: list[str], folder: Path, seconds: float, env: dict[str, str], lock: int | None
) -> tuple[str, int | None]:
    process = subprocess.Popen(
        [sys.executable, "-m", "workers.inspection.confine", str(TOOL_UID), *command],
        cwd=folder,
        env=env,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
        pass_fds=() if lock is None else (lock,),
    )
    late = threading.Event()

    def end() -> None:
        late.set()
        _kill(process.pid)

    timer = threading.Timer(seconds, end)
    timer.start()
    assert process.stdout is not None  # a pipe was asked for
    try:
        output = process.stdout.read(_OUTPUT_BYTES)
        if len(output) == _OUTPUT_BYTES:
            _kill(process.pid)
        process.wait()
    finally:
        timer.cancel()
        _kill(process.pid)  # whatever the tool has left behind
        process.stdout.close()
    return output.decode(errors="replace"), None if late.is_set() else process.returncode


def _kill(group: int) -> None:
    try:
        os.killpg(group, signal.SIGKILL)
    except ProcessLookupError:
        return


def _environment(folder: Path, gpu: int) -> dict[str, str]:
    site = [path for path in os.environ.get("PYTHONPATH", "").split(os.pathsep) if path]
    return {
        "PATH": "/usr/local/bin:/usr/bin:/bin",
        "LANG": "C.UTF-8",
        "HOME": str(folder),
        "TMPDIR": str(folder),
        "PYTHONPATH": os.pathsep.join([str(ROOT), *map(os.path.abspath, site)]),
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONUNBUFFERED": "1",
        "OMP_NUM_THREADS": "4",
        "PYTORCH_NO_CUDA_MEMORY_CACHING": "1",
        "CUDA_VISIBLE_DEVICES": str(gpu),
        "CUDA_DEVICE_ORDER": "PCI_BUS_ID",
        "LD_LIBRARY_PATH": os.environ.get("LD_LIBRARY_PATH", ""),
    }


def _read(path: Path) -> str:
    with path.open("rb") as file:
        return file.read(_OUTPUT_BYTES).decode(errors="replace")
