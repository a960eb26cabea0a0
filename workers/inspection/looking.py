"""One inspection of a plan: which cases, which tool, and what came of it."""

import re
import subprocess
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from kernels.contract import DeviceName, Task
from kernels.contract.inspection import Inspection
from kernels.contract.replaying import ReplayRequest
from kernels.contract.rerun import RerunKind
from workers.inspection import profile, sanitizer, tools
from workers.inspection.marks import Progress
from workers.inspection.running import Seen, run_tool

SECONDS = 120
"""That a tool may take; what it does not reach is named."""

_NOTES: Mapping[RerunKind, str] = {
    RerunKind.MEMCHECK: (
        "Each tensor is an allocation of its own here, so the first byte outside of it is seen; "
        "the judge itself lays guards between them."
    ),
    RerunKind.RACECHECK: (
        "Only shared memory is watched: races between blocks in global memory are not seen."
    ),
    RerunKind.PROFILE: (
        "Each launch is measured alone and with cold caches, at clocks as they are: "
        "its time is not the judge's."
    ),
}
_SAID = re.compile(r"^(?:=========|==ERROR==) ?(?:Error: |ERROR: )?(.*\w.*)$", re.MULTILINE)
_VERSION = re.compile(r"Version (\d[\w.]*)")


class NotInspected(Exception):
    """The tool cannot look at plans on this host; one sentence with what to do."""


@dataclass(frozen=True)
class Look:
    """What is to be looked at."""

    kind: RerunKind
    task: Task
    reference: Path
    device: DeviceName
    bundle: bytes
    """Packed."""
    configs: dict[str, dict[str, str]]
    seed: int
    gpu: int
    """Index of the GPU, in PCI order."""
    lock: int | None = None
    """Descriptor whose holders hold the GPU."""


def look(wanted: Look) -> Inspection:
    """Run the tool and read it; NotInspected, ToolMissing, OSError."""
    cases = cases_of(wanted.task, wanted.kind)
    request = ReplayRequest(
        task=wanted.task,
        reference=str(wanted.reference),
        device=wanted.device,
        seed=wanted.seed,
        cases=cases,
        configs={name: configs for name, configs in wanted.configs.items() if name in cases},
    )
    started = time.monotonic()
    packed = request.pack((wanted.bundle,))
    seen = run_tool(wanted.kind, packed, SECONDS, gpu=wanted.gpu, lock=wanted.lock)
    return inspection_of(wanted.kind, cases, seen, time.monotonic() - started)


def cases_of(task: Task, kind: RerunKind) -> tuple[str, ...]:
    """A profile is of what counts; the rest is of the small cases, since tools are slow."""
    wanted = "benchmark" if kind is RerunKind.PROFILE else "test"
    return tuple(case.name for case in task.cases if case.kind == wanted)


def inspection_of(
    kind: RerunKind, cases: tuple[str, ...], seen: Seen, seconds: float
) -> Inspection:
    """What a run says; NotInspected if it says nothing."""
    if kind is RerunKind.PROFILE:
        profiled = profile.read(seen.output, seen.log, cases)
        if profiled.refusal:
            raise NotInspected(profiled.refusal)
        progress = profiled.progress
        found: dict[str, object] = {"profiles": profiled.profiles, "total": profiled.total}
        came_to_something = bool(profiled.profiles)
    else:
        read = sanitizer.read(seen.output, cases)
        progress = read.progress
        found = {"errors": read.errors, "races": read.races, "total": read.total}
        came_to_something = bool(progress.done)
    if not came_to_something:
        raise NotInspected(_reason(seen))
    return Inspection.model_validate(
        found
        | {
            "tool": version(kind),
            "cases": tuple(progress.done),
            "left_out": tuple(case for case in cases if case not in progress.done),
            "notes": _notes(kind, seen, progress),
            "seconds": seconds,
        }
    )


def version(kind: RerunKind) -> str:
    """Name and version of a tool."""
    program = tools.PROGRAMS[kind]
    path = tools.find(program)
    if path is None:
        return program
    try:
        said = subprocess.run(
            [path, "--version"], capture_output=True, text=True, timeout=20, check=False
        ).stdout
    except (OSError, subprocess.TimeoutExpired):
        return program
    found = _VERSION.search(said)
    return f"{program} {found[1]}" if found else program


def _notes(kind: RerunKind, seen: Seen, progress: Progress) -> tuple[str, ...]:
    notes = [_NOTES[kind]]
    if seen.returncode is None:
        notes.append(f"It was stopped after {SECONDS} s, before all cases were looked at.")
    notes += [f"{case}: {reason}" for case, reason in progress.failed.items()]
    return tuple(note[:500] for note in notes[:16])


def _reason(seen: Seen) -> str:
    """What went wrong, in the tool's own last words."""
    if seen.returncode is None:
        return f"the tool did not get through one case in {SECONDS} s"
    words = [line for line in _SAID.findall(seen.output + seen.log) if "COMPUTE" not in line]
    said = words[-1].strip()[:200] if words else f"exit code {seen.returncode}"
    return f"the tool came to nothing ({said}): try it by hand on the measuring host"
