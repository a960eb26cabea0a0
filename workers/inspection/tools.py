"""The tools: where they are, what is missing, and how they are called."""

import os
import shutil
from collections.abc import Mapping
from pathlib import Path

from kernels.contract.rerun import RerunKind
from workers.inspection.counters import METRICS

_PLACES = (
    "/usr/local/cuda/bin",
    "/usr/local/cuda/compute-sanitizer",
    "/opt/nvidia/nsight-compute/*",
)
_PROFILING_PARAMETERS = Path("/proc/driver/nvidia/params")
_CAP_SYS_ADMIN = 21
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


def remedy(kind: RerunKind) -> str:
    """What to do where the tool is missing."""
    if kind is RerunKind.PROFILE:
        return "ncu is not installed on the measuring host: install NVIDIA Nsight Compute"
    return (
        "compute-sanitizer is not installed on the measuring host: install it with the CUDA toolkit"
    )
