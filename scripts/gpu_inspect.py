"""Look at packed plans with compute-sanitizer and Nsight Compute, and keep what the tools say.

python -m scripts.gpu_inspect FOLDER OUT [--only NAME] [--kind memcheck] [--benchmarks N]

FOLDER holds <task>__<verdict>__<name>.bundle files, as scripts/pack_bundles.py writes them. The
outputs, OUT/<bundle>.<kind>.txt and .csv, are what tests/data/inspection is made of; with --planted
also those on the program planted.cu there, which needs nvcc.
"""

import argparse
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from kernels.catalog import Catalog
from kernels.contract import Case, DeviceName, Task
from kernels.contract.replaying import ReplayRequest
from kernels.contract.rerun import RerunKind
from workers.inspection import tools
from workers.inspection.running import run_tool
from workers.settings import ROOT

_SECONDS = 60
_PLANTED = ROOT / "tests" / "data" / "inspection" / "planted.cu"


def main() -> int:
    """The number of looks that came to nothing."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--only", default="", help="part of the bundles' names")
    parser.add_argument("--kind", type=RerunKind, action="append")
    parser.add_argument("--cases", type=int, default=3, help="cases of each plan")
    parser.add_argument("--planted", action="store_true")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    if options.planted:
        look_at_planted(options.out)
    failed = 0
    for path in sorted(options.folder.glob(f"*{options.only}*.bundle")):
        for kind in options.kind or list(tools.PROGRAMS):
            failed += not look(path, kind, options.cases, options.out)
    return failed


def look(path: Path, kind: RerunKind, count: int, out: Path) -> bool:
    """Run one tool on one plan; whether it came to its end."""
    folder = Catalog()[path.stem.split("__")[0]]
    request = ReplayRequest(
        task=folder.task,
        reference=str(folder.reference),
        device=DeviceName.H200,
        seed=7,
        cases=tuple(case.name for case in cases(folder.task, kind)[:count]),
    )
    started = time.monotonic()
    seen = run_tool(kind, request.pack((path.read_bytes(),)), _SECONDS)
    print(f"{path.stem} {kind}: {time.monotonic() - started:.1f} s, exit {seen.returncode}")
    (out / f"{path.stem}.{kind}.txt").write_text(seen.output)
    if seen.log:
        (out / f"{path.stem}.{kind}.csv").write_text(seen.log)
    return seen.returncode == 0


def look_at_planted(out: Path) -> None:
    """What compute-sanitizer says of errors that are there for sure."""
    with tempfile.TemporaryDirectory() as name:
        program = str(Path(name) / "planted")
        subprocess.run(["nvcc", "-lineinfo", "-arch=sm_90a", "-o", program, _PLANTED], check=True)
        for kind, words in ((RerunKind.MEMCHECK, []), (RerunKind.RACECHECK, ["races"])):
            sanitizer = tools.find(tools.PROGRAMS[kind]) or "compute-sanitizer"
            call = tools.command(kind, sanitizer, Path(name) / "log", [program, *words])
            seen = subprocess.run(call, capture_output=True, text=True, check=False)
            (out / f"planted.{kind}.txt").write_text(seen.stdout + seen.stderr)


def cases(task: Task, kind: RerunKind) -> list[Case]:
    """What such a look is at: what counts for a profile, the small cases otherwise."""
    wanted = "benchmark" if kind is RerunKind.PROFILE else "test"
    return [case for case in task.cases if case.kind == wanted]


if __name__ == "__main__":
    sys.exit(main())
