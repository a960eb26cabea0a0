"""Around the assembler: portable line tables, true spills and the options that were asked for."""

import contextlib
import dataclasses
import io
import re
from pathlib import Path
from typing import Any

import triton
from triton import knobs
from triton.backends.nvidia.compiler import CUDABackend, CUDAOptions

_SPILLED, _ASKED = "spilled_bytes", "asked_options"
_LINE = re.compile(r"(\d+) bytes spill stores, (\d+) bytes spill loads")
_FILE = re.compile(r'^(\s*\.file\s+\d+\s+"[^"]*")[ \t]*$', re.MULTILINE)
PACKAGES = f"{Path(triton.__file__).parents[1]}/"
"""Folder of all installed packages."""
_TEXT_CHARACTERS = 500

_TUNING = re.compile(
    r"-O[0-3]|-v|--verbose|--warn-spills|--opt-level(=[0-3])?|--maxrregcount=\d{1,3}"
    r"|--allow-expensive-optimizations=(true|false)|--register-usage-level=\d{1,2}"
    r"|--regAllocOptLevel=\d|--fmad=(true|false)|--(def|force)-(load|store)-cache=[a-z]{2}|[0-3]"
)
HOST_OPTIONS = {
    *("arch", "backend_name", "max_num_imprecise_acc_default"),
    *("extern_libs", "ir_override"),
}
"""Options that the target sets, or that name files: what those brought in is not rebuilt."""


def install() -> None:
    """Make every compilation note its spills and options, in Triton's cache too."""
    assemble = CUDABackend.make_cubin

    def make_cubin(
        self: Any, source: str, metadata: dict[str, Any], options: Any, *rest: Any
    ) -> Any:
        log = io.StringIO()
        wanted = knobs.nvidia.dump_ptxas_log
        knobs.nvidia.dump_ptxas_log = True
        try:
            # Triton prints the log, and on failure a whole PTX file that its exception repeats.
            with contextlib.redirect_stdout(log):
                binary = assemble(self, portable(source), metadata, options, *rest)
        finally:
            knobs.nvidia.dump_ptxas_log = wanted
        found = _LINE.findall(log.getvalue())
        metadata[_SPILLED] = (
            [sum(int(pair[i]) for pair in found) for i in (0, 1)] if found else None
        )
        metadata[_ASKED] = asked(options)
        return binary

    CUDABackend.make_cubin = make_cubin


def portable(ptx: str) -> str:
    """PTX whose line table names no folder, size or age of this machine's files.

    Otherwise the assembler looks them up, and one kernel gets other bytes on another machine.
    """
    return _FILE.sub(r"\1, 1, 1", ptx.replace(f'"{PACKAGES}', '"'))


def spills(metadata: Any) -> tuple[int | None, int | None]:
    """Bytes of spill stores and loads of a compiled kernel; None where no log was there."""
    found = getattr(metadata, _SPILLED, None)
    return (None, None) if found is None else (found[0], found[1])


def options(metadata: Any) -> dict[str, bool | int | str]:
    """Options of a compiled kernel that are not Triton's defaults."""
    return dict(getattr(metadata, _ASKED, None) or {})


def only_tunes(text: str) -> bool:
    """Whether options for the assembler can but tune: they name no other input or output."""
    return all(_TUNING.fullmatch(option) for option in text.split(" "))


def asked(given: CUDAOptions) -> dict[str, bool | int | str]:
    """The plain options that differ from their defaults."""
    found = {}
    for field in dataclasses.fields(given):
        value = getattr(given, field.name)
        plain = isinstance(value, bool | int | str) and len(str(value)) <= _TEXT_CHARACTERS
        if plain and value != field.default and field.name not in HOST_OPTIONS:
            found[field.name] = value
    return found
