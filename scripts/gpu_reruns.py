"""Sittings and inspections through the whole service, on a machine with a Hopper GPU and the tools.

Starts service and workers, submits a softmax and a matrix product, measures the softmax again,
alone and with its board, looks at both with every tool, and writes what came of it to a folder:

    python -m scripts.gpu_reruns --out build/reruns
"""

import argparse
import json
import time
from pathlib import Path
from typing import Any

from kernels.catalog import Catalog
from scripts.stack import ROOT, Stack

_WAIT_S = 60
_ENDED = ("done", "failed")
_ASKED = (
    ("softmax", "fused", ("memcheck", "racecheck", "profile")),
    ("matmul", "tile", ("profile",)),
)


def main() -> int:
    """0 if everything was accepted and done."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--port", type=int, default=8124)
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    settings = {"KERNELJUDGE_INSPECT": "on"}
    with Stack(ROOT / "var" / "gpu-reruns", options.port, settings) as stack:
        health = stack.wait_until_ready()
        for worker in health["workers"]:
            print(worker["role"], worker["gpu"], worker["inspections"], flush=True)
        states = [
            state
            for task, solution, kinds in _ASKED
            for state in go_through(stack, task, solution, kinds, options.out)
        ]
        for part in stack.parts:
            (options.out / f"{part.module}.log").write_bytes(part.log.read_bytes()[-200_000:])
    print(f"{states.count('done')} of {len(states)} done")
    return 0 if states and set(states) == {"done"} else 1


def go_through(
    stack: Stack, task: str, solution: str, kinds: tuple[str, ...], out: Path
) -> list[str]:
    """Submit one solution and do everything with it; how each rerun ended."""
    source = (Catalog()[task].path / "solutions" / f"{solution}.py").read_text()
    detail = stack.submit(task, source, wait=_WAIT_S)
    name, device = detail["id"], detail["device"]
    print(
        f"{task}/{solution}: {detail['verdict']} {detail['reason']} {detail['score']}", flush=True
    )
    paths: list[tuple[str, dict[str, str]]] = []
    if task == "softmax":
        paths.append((f"/submissions/{name}/remeasure", {}))
        paths.append((f"/boards/{task}/{device}/remeasure?top=1&rounds=2", {}))
    paths += [(f"/submissions/{name}/inspections", {"kind": kind}) for kind in kinds]
    states = [rerun(stack, path, body, out) for path, body in paths]
    found = stack.ask(f"/api/v1/submissions/{name}/sittings") or {}
    (out / f"{task}.sittings.json").write_text(json.dumps(found, indent=1))
    for sitting in found["sittings"]:
        print("   ", {key: sitting[key] for key in ("number", "verdict", "score", "low", "high")})
    print("   ", found["standing"], flush=True)
    return states


def rerun(stack: Stack, path: str, body: dict[str, str], out: Path) -> str:
    """Ask for one rerun and wait for its end; its last state."""
    started = time.monotonic()
    found: dict[str, Any] = stack.ask("/api/v1" + path, body) or {}
    while found["state"] not in _ENDED:
        found = stack.ask(f"/api/v1/reruns/{found['id']}?wait={_WAIT_S}") or found
    seconds = time.monotonic() - started
    label = f"{found['kind']}-{found['id']}"
    (out / f"{label}.json").write_text(json.dumps(found, indent=1))
    print(f"    {path} {body}: {found['state']} in {seconds:.1f} s {found['detail']}", flush=True)
    inspection = found["inspection"]
    if inspection is not None:
        show(inspection)
    return str(found["state"])


def show(inspection: dict[str, Any]) -> None:
    """Print what a tool found."""
    print(f"      {inspection['tool']}: {inspection['total']} in {inspection['cases']}")
    for profile in inspection["profiles"]:
        shares = {key: profile[key] for key in ("case", "memory", "compute", "tensor", "occupancy")}
        print("       ", shares, *profile["findings"])


if __name__ == "__main__":
    raise SystemExit(main())
