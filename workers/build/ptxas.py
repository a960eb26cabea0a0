"""True spills, which only the assembler's log tells: kept with the kernel's metadata."""

import contextlib
import io
import re
from typing import Any

from triton import knobs
from triton.backends.nvidia.compiler import CUDABackend

_KEY = "spilled_bytes"
_LINE = re.compile(r"(\d+) bytes spill stores, (\d+) bytes spill loads")


def install() -> None:
    """Make every compilation note its spills, in Triton's cache too."""
    assemble = CUDABackend.make_cubin

    def make_cubin(self: Any, source: Any, metadata: dict[str, Any], *rest: Any) -> Any:
        log = io.StringIO()
        wanted = knobs.nvidia.dump_ptxas_log
        knobs.nvidia.dump_ptxas_log = True
        try:
            # Triton prints the log, and on failure a whole PTX file that its exception repeats.
            with contextlib.redirect_stdout(log):
                binary = assemble(self, source, metadata, *rest)
        finally:
            knobs.nvidia.dump_ptxas_log = wanted
        found = _LINE.findall(log.getvalue())
        metadata[_KEY] = [sum(int(pair[i]) for pair in found) for i in (0, 1)] if found else None
        return binary

    CUDABackend.make_cubin = make_cubin


def spills(metadata: Any) -> tuple[int | None, int | None]:
    """Bytes of spill stores and loads of a compiled kernel; None where no log was there."""
    found = getattr(metadata, _KEY, None)
    return (None, None) if found is None else (found[0], found[1])
