"""Run solutions at the ends of what statements allow, against torch, natively on this GPU.

    python -m scripts.gpu_corners [TASK ...] [--all]

Sizes are those of gpu_corners.jsonl: the longest row, the most rows, the most elements. Where a
record is shipped, its solution is run, with `--all` every one. Results that are right in many ways
are not compared. Takes 2 minutes; ends with status 1 if one is wrong.
"""

import argparse
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from kernels.catalog import Catalog, TaskFolder
from kernels.contract import Case, DeviceName
from kernels.records import Records
from scripts.gpu_race import entry
from workers.measure import inputs, reference

_CASES = Path(__file__).with_suffix(".jsonl")
_AT_ONCE = 1 << 26
_WORST = 0.02
"""Relative error over all elements: torch's own is at most 3.4e-3 in these element types."""
_SEED = 7


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("task", nargs="*", help="only these")
    parser.add_argument("--all", action="store_true", help="every solution")
    options = parser.parse_args()
    if not torch.cuda.is_available():
        parser.error("there is no GPU here: run this on the machine that has one")
    catalog, wrong = Catalog(), 0
    for line in _CASES.read_text().splitlines():
        found = json.loads(line)
        task = found.pop("task")
        if not options.task or task in options.task:
            case = Case.model_validate({"name": "corner", "kind": "benchmark", **found})
            wrong += run(task, catalog[task], case, options.all)
    sys.exit(1 if wrong else 0)


def run(name: str, folder: TaskFolder, case: Case, every: bool) -> int:
    """Print how each solution did; how many were wrong."""
    print(name, dict(case.values), flush=True)
    judge = reference.load(str(folder.reference))
    if judge.accept:
        print("  right in many ways: not compared")
        return 0
    made = inputs.make(folder.task, case, folder.task.distributions[0], 0, _SEED, judge, "cuda")
    wanted = list(flat(judge.baseline(*made.arguments)))
    wrong = 0
    for path in folder.solutions if every else recorded(name, folder):
        error, far = apart(list(flat(entry(folder, path)(*made.arguments))), wanted)
        right = far == 0 and error < _WORST
        wrong += not right
        print(f"  {'right' if right else 'WRONG'} {path.stem:20} error {error:.2e}, far off {far}")
    del made, wanted
    torch.cuda.empty_cache()
    return wrong


def recorded(name: str, folder: TaskFolder) -> list[Path]:
    """The solution whose record is shipped; all if it has changed since."""
    record = Records({name: folder}).get((name, DeviceName.H200))
    return [p for p in folder.solutions if record is None or p.stem == record.solution]


def flat(result: Any) -> Iterator[Tensor]:
    """All tensors of a result, each as a vector."""
    for one in result if isinstance(result, list | tuple) else [result]:
        if isinstance(one, list | tuple):
            yield from flat(one)
        else:
            yield one.reshape(-1)


def apart(got: list[Tensor], wanted: list[Tensor]) -> tuple[float, int]:
    """Relative error, and how many elements lie far off; in parts, for the room that takes."""
    difference = norm = 0.0
    far = 0
    for left, right in zip(got, wanted, strict=True):
        for at in range(0, right.numel(), _AT_ONCE):
            a, b = left[at : at + _AT_ONCE].float(), right[at : at + _AT_ONCE].float()
            allowed = 0.1 * b.abs() + 2 * b.abs().mean()
            far += int((~((a - b).abs() <= allowed)).sum())
            difference += float((a - b).double().square().sum())
            norm += float(b.double().square().sum())
    return (difference / norm) ** 0.5 if norm else difference, far


if __name__ == "__main__":
    main()
