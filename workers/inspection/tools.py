"""The tools: where they are, what is missing, and how they are called."""

import os
import shutil
import stat
import sys
from collections.abc import Mapping
from pathlib import Path

from kernels.contract.rerun import RerunKind
from workers.inspection.counters import METRICS

_PLACES = (
    "/usr/local/cuda/bin",
    "/usr/local/cuda/compute-sanitizer",
    "/opt/nvidia/nsight-compute/*",
)
_DRIVER_PARAMETERS = Path("/proc/driver/nvidia/params")
_MOST_REPORTS = 1000
PROGRAMS: Mapping[RerunKind, str] = {
    RerunKind.MEMCHECK: "compute-sanitizer",
    RerunKind.RACECHECK: "compute-sanitizer",
    RerunKind.PROFILE: "ncu",
}


def find(program: str) -> str | None:
    """Path of a tool; None where it is not installed."""
    found = shutil.which(program)
    if found is not None:
        return found
    for pattern in _PLACES:
        for folder in sorted(Path("/").glob(pattern.removeprefix("/")), reverse=True):
            path = folder / program
            if path.is_file() and os.access(path, os.X_OK):
                return str(path)
    return None


def command(kind: RerunKind, program: str, log: Path, target: list[str]) -> list[str]:
    """The call that looks at `target`; what an error or a counter says goes to `log`."""
    if kind is RerunKind.PROFILE:
        return [
            program, "--clock-control", "none", "--profile-from-start", "off", "--csv",
            "--page", "raw", "--print-units", "base", "--log-file", str(log),
            "--metrics", ",".join(METRICS), *target,
        ]  # fmt: skip
    options = ["--racecheck-report", "analysis"] if kind is RerunKind.RACECHECK else []
    return [
        program, "--tool", kind.value, "--print-limit", str(_MOST_REPORTS),
        "--show-backtrace", "device", "--report-api-errors", "no",
        "--destroy-on-device-error", "kernel", *options, *target,
    ]  # fmt: skip


def missing(kind: RerunKind) -> str:
    """What keeps the tool from looking at plans on this host, and what to do; empty if nothing."""
    program = PROGRAMS[kind]
    if find(program) is None:
        package = "NVIDIA Nsight Compute" if program == "ncu" else "the CUDA toolkit"
        return f"{program} is not installed on the measuring host: install it with {package}"
    if os.geteuid() == 0 and not _open_to_all(Path(sys.executable).resolve()):
        return (
            "the tools run as a user of their own, who may not run the workers' Python: install "
            "it in a folder that every user may enter"
        )
    if kind is RerunKind.PROFILE and _counters_are_for_admins():
        return (
            "the driver keeps the GPU's counters for administrators: load it with "
            "NVreg_RestrictProfilingToAdminUsers=0 on the measuring host"
        )
    return ""


def _open_to_all(path: Path) -> bool:
    return all(part.stat().st_mode & stat.S_IXOTH for part in (path, *path.parents))


def _counters_are_for_admins() -> bool:
    try:
        text = _DRIVER_PARAMETERS.read_text()
    except OSError:
        return False
    return "RmProfilingAdminOnly: 1" in text
