"""The jailed process: gives up every right, then calls the entry function."""

import io
import os
import resource
import signal
import sys
import tempfile
import traceback
from contextlib import suppress
from pathlib import Path
from typing import NoReturn, TextIO

from workers.jail import frame, identity, landlock, linux, seccomp
from workers.jail.capture import clip
from workers.jail.cell import READY, Cell, Entry, Pipes, reporting_failure
from workers.jail.environment import scratch_variables
from workers.jail.level import Layer
from workers.jail.profile import Limits
from workers.thrown import was_thrown

_STACK_BYTES = 8 << 20
_LIKELIEST_OOM_VICTIM = "1000"


def _set_limits(limits: Limits) -> None:
    wanted = {
        resource.RLIMIT_CPU: limits.cpu_s,
        # Not the address space: that also counts libraries, reserved and device memory.
        resource.RLIMIT_DATA: limits.memory_bytes,
        resource.RLIMIT_NPROC: limits.processes,
        resource.RLIMIT_NOFILE: limits.open_files,
        resource.RLIMIT_FSIZE: limits.file_bytes,
        resource.RLIMIT_STACK: _STACK_BYTES,
        resource.RLIMIT_CORE: 0,
        resource.RLIMIT_MEMLOCK: 0,
        resource.RLIMIT_MSGQUEUE: 0,
        resource.RLIMIT_NICE: 0,
        resource.RLIMIT_RTPRIO: 0,
    }
    for kind, value in wanted.items():
        _, hard = resource.getrlimit(kind)
        allowed = value if hard == resource.RLIM_INFINITY else min(value, hard)
        # A process over its processor limit gets SIGXCPU at the soft one, SIGKILL at the hard.
        last = allowed + 1 if kind == resource.RLIMIT_CPU else allowed
        resource.setrlimit(kind, (allowed, last))


def _redirect(pipes: Pipes) -> None:
    """Leave the standard descriptors and the two pipes, and nothing else, open."""
    null = os.open("/dev/null", os.O_RDONLY)
    os.dup2(null, 0)
    for descriptor in (1, 2):
        os.dup2(pipes.output.writer, descriptor)
    linux.close_all_except({0, 1, 2, pipes.result.writer, pipes.ready.writer})
    sys.stdout, sys.stderr = _text_stream(1), _text_stream(2)


def _text_stream(descriptor: int) -> TextIO:
    # The server's own streams believe in the kind of file that they were opened on.
    raw = io.FileIO(descriptor, "w", closefd=False)
    buffered = io.BufferedWriter(raw)
    return io.TextIOWrapper(
        buffered, encoding="utf-8", errors="backslashreplace", line_buffering=True
    )


def _move_to_scratch(scratch: Path) -> None:
    os.chdir(scratch)
    os.environ.update(scratch_variables(scratch))
    tempfile.tempdir = None  # a preloaded module may have asked before


def _confine(cell: Cell, pipes: Pipes) -> None:
    """Apply every layer of the level, the ones that need rights first."""
    os.setsid()
    linux.die_with_parent(signal.SIGKILL)
    _redirect(pipes)
    if cell.has_own_processes:
        Path("/proc/self/oom_score_adj").write_text(_LIKELIEST_OOM_VICTIM)
    _set_limits(cell.limits)
    if cell.has(Layer.UID):
        identity.become(cell.uid)
    linux.die_with_parent(signal.SIGKILL)  # forgotten with the change of uid
    _move_to_scratch(cell.scratch)
    if cell.has(Layer.NO_NEW_PRIVS):
        linux.set_no_new_privileges()
    if cell.has(Layer.LANDLOCK):
        landlock.restrict(cell.profile, cell.scratch, private_root=cell.has(Layer.MOUNTNS))
    if cell.has(Layer.SECCOMP):
        seccomp.install(cuda=cell.profile.cuda_sockets)


def _answer(entry: Entry, request: bytes) -> tuple[frame.Kind, bytes]:
    try:
        result = entry(request)
        if not isinstance(result, bytes):
            raise TypeError(f"the entry function returned {type(result).__name__}, not bytes")
        return frame.Kind.RESULT, result
    except MemoryError as error:
        return frame.Kind.MEMORY_ERROR, f"MemoryError: {error}".encode(errors="replace")
    except BaseException as error:  # noqa: BLE001 - whatever untrusted code raises is an answer
        if was_thrown(error):
            os._exit(1)  # by a thread of that code: an end like others, whatever it hit
        # The first frame is this function.
        error = error.with_traceback(error.__traceback__ and error.__traceback__.tb_next)
        return frame.Kind.ERROR, clip("".join(traceback.format_exception(error))).encode()


def run(cell: Cell, entry: Entry, request: bytes, pipes: Pipes) -> NoReturn:
    """Confine this process, call `entry`, write the answer as one frame and end."""
    try:
        with reporting_failure(pipes.ready.writer, "inmate"):
            _confine(cell, pipes)
        os.write(pipes.ready.writer, READY)
        os.close(pipes.ready.writer)
        answer = _answer(entry, request)
        with suppress(OSError, ValueError, AttributeError):  # closed or replaced streams
            sys.stdout.flush()
            sys.stderr.flush()
        frame.write(pipes.result.writer, *answer)
        os._exit(0)
    finally:
        os._exit(1)
