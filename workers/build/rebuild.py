"""Provenance: kernels compiled again from their recorded IR where no submitted code ever ran."""

import gc
import hashlib
import os
import tempfile
import time
import zlib
from pathlib import Path
from typing import Any

from triton.backends.compiler import GPUTarget
from triton.backends.nvidia.compiler import CUDAOptions
from triton.compiler import compile as triton_compile

from kernels.contract import limits
from kernels.contract.wire import RebuildAnswer, RebuildKernel, RebuildRequest, Rebuilt
from workers.build import disassembly, ptxas
from workers.build.kernels import write_whole
from workers.build.schedule import forget, silence, wait_for

TARGET = GPUTarget("cuda", 90, 32)
MOST_PROCESSORS = 8
_DISASSEMBLY_SHARE = 0.8
"""Of the time, after which no further kernel is compiled."""


def run(request: RebuildRequest, texts: list[bytes], started: float) -> bytes:
    """Answer a RebuildRequest; changes this process for good."""
    scratch = Path(tempfile.mkdtemp(prefix="rebuild-"))
    os.environ["TRITON_CACHE_DIR"] = str(scratch / "cache")
    os.chdir(scratch)
    gc.disable()
    ptxas.install()
    _compile_all(request, texts, scratch, started + _DISASSEMBLY_SHARE * request.seconds)
    cubins = [_cubin(scratch, number) for number in range(len(request.kernels))]
    listings = disassembly.disassemble(
        [cubin for cubin in cubins if cubin is not None], scratch, started + request.seconds
    )
    found = [
        None if cubin is None else _rebuilt(scratch, i, cubin) for i, cubin in enumerate(cubins)
    ]
    blobs = []
    for number, kernel in enumerate(found):
        listing = listings.get(kernel.cubin) if kernel is not None else None
        if kernel is not None and listing is not None:
            found[number] = kernel.model_copy(update={"mix": disassembly.mix(listing)})
            blobs.append(disassembly.compressed(listing))
    return RebuildAnswer(kernels=tuple(found)).pack(tuple(blobs))


def compile_again(kernel: RebuildKernel, text: bytes, folder: Path) -> tuple[bytes, bool]:
    """The cubin of an IR text, and whether warp specialisation was asked for in vain."""
    source = folder / f"kernel.{kernel.kind}"
    source.write_bytes(text)
    known = CUDAOptions.__dataclass_fields__.keys() - ptxas.HOST_OPTIONS
    options = {name: value for name, value in kernel.options.items() if name in known}
    if not ptxas.only_tunes(str(options.get("ptx_options") or "-v")):
        del options["ptx_options"]
    compiled: Any = triton_compile(str(source), target=TARGET, options=options)
    asked = b"tt.warp_specialize" in text
    done = "ttg.warp_specialize" in compiled.asm["ttgir"] if "ttgir" in compiled.asm else True
    return compiled.asm["cubin"], asked and not done


def _compile_all(
    request: RebuildRequest, texts: list[bytes], scratch: Path, deadline: float
) -> None:
    """Each kernel in a process of its own, so that one that crashes the compiler is one."""
    waiting = list(range(min(len(request.kernels), len(texts))))
    most = min(len(os.sched_getaffinity(0)), MOST_PROCESSORS)
    running: dict[int, int] = {}
    while (waiting or running) and time.monotonic() < deadline:
        while waiting and len(running) < most:
            number = waiting.pop(0)
            pid = _forked(request.kernels[number], texts[number], scratch / str(number))
            running[pid] = os.pidfd_open(pid)
        wait_for(list(running.values()), max(0.0, deadline - time.monotonic()))
        for pid in [pid for pid in running if os.waitpid(pid, os.WNOHANG)[0]]:
            forget(running.pop(pid))
    for pid in running:
        os.kill(pid, 9)
        os.waitpid(pid, 0)


def _forked(kernel: RebuildKernel, compressed: bytes, folder: Path) -> int:
    pid = os.fork()
    if pid:
        return pid
    try:
        silence()
        folder.mkdir()
        text = zlib.decompressobj().decompress(compressed, limits.TEXT_BYTES)
        cubin, ignored = compile_again(kernel, text, folder)
        (folder / "ignored").write_bytes(b"1" if ignored else b"")
        write_whole(folder / "cubin", cubin)
    finally:
        os._exit(0)


def _cubin(scratch: Path, number: int) -> bytes | None:
    path = scratch / str(number) / "cubin"
    return path.read_bytes() if path.exists() else None


def _rebuilt(scratch: Path, number: int, cubin: bytes) -> Rebuilt:
    ignored = (scratch / str(number) / "ignored").read_bytes() == b"1"
    return Rebuilt(cubin=hashlib.sha256(cubin).hexdigest(), specialization_ignored=ignored)
