"""`python -m workers.measure.replay_once FILE`: each case of a plan once, for a tool to look at.

FILE holds a packed ReplayRequest. What is done stands on standard output, a line each, beginning
with MARK: `case NAME` before a case, `launch SYMBOL` before each kernel, `done NAME` behind it, or
`failed NAME REASON`. Nothing is compared or timed.
"""

import sys
from collections.abc import Iterator
from pathlib import Path

import torch

from kernels.contract import Bundle, Case, CasePlan, Choice, Launch, PlanRefused
from kernels.contract.replaying import MARK, ReplayRequest
from kernels.contract.steps import Action
from workers.measure import driver, faults, inputs, loader, ops
from workers.measure.allocations import Allocations
from workers.measure.launch import BoundLaunch, Kernels
from workers.measure.reference import Reference, load

_GPU = "cuda"
_ON_CPU = 1 << 26
"""Elements; inputs of smaller cases are drawn on the CPU, where no tool slows the drawing down."""

_PATIENCE = 600.0
"""Seconds; a tool slows a kernel down a hundredfold. Whoever started the tool ends it in time."""


def main(path: Path) -> int:
    """Replay what the file asks for; 0 unless it cannot be read."""
    request, blobs = ReplayRequest.unpack(path.read_bytes())
    bundle = loader.load(blobs[0], request.task, request.device)
    reference = load(request.reference)
    kernels = Kernels(bundle)
    torch.cuda.init()  # type: ignore[no-untyped-call]
    with torch.inference_mode():
        for name in request.cases:
            case = next(case for case in request.task.cases if case.name == name)
            _say("case", name)
            try:
                _replay(request, bundle, kernels, reference, case)
            except _FAILURES as error:
                _say("failed", f"{name} {error}")
                continue
            _say("done", name)
    return 0


_FAILURES = (
    PlanRefused,
    faults.CudaError,
    faults.KernelFailed,
    faults.KernelHung,
    faults.LaunchRefused,
    torch.OutOfMemoryError,
    torch.AcceleratorError,
)


def _replay(
    request: ReplayRequest, bundle: Bundle, kernels: Kernels, reference: Reference, case: Case
) -> None:
    plan = bundle.plan.case(case.name)
    memory = Allocations(plan.buffers, bundle.blobs, _inputs(request, reference, case), _GPU)
    for action in chosen(plan, request.configs.get(case.name, {})):
        if not isinstance(action, Launch):
            ops.bind(action, memory.tensor)()
            continue
        launch = BoundLaunch(action, kernels, memory)
        driver.synchronize(_PATIENCE)
        _say("launch", bundle.plan.kernels[action.kernel].symbol)
        torch.cuda.profiler.start()  # type: ignore[no-untyped-call]
        launch.run()
        driver.synchronize(_PATIENCE)
        torch.cuda.profiler.stop()  # type: ignore[no-untyped-call]
    driver.synchronize(_PATIENCE)


def chosen(plan: CasePlan, configs: dict[str, str]) -> Iterator[Action]:
    """All steps of a case, with the configuration named for each tuned kernel, or the first."""
    for step in plan.steps:
        if not isinstance(step, Choice):
            yield step
            continue
        wanted = configs.get(step.function)
        named = (found for found in step.alternatives if found.config == wanted)
        yield from next(named, step.alternatives[0]).steps


def _inputs(request: ReplayRequest, reference: Reference, case: Case) -> dict[str, torch.Tensor]:
    task = request.task
    elements = sum(getattr(spec, "numel", 0) for spec in task.arguments(case))
    device = "cpu" if elements < _ON_CPU else _GPU
    first = task.distributions[0]
    return inputs.make(task, case, first, 0, request.seed, reference, device).buffers


def _say(what: str, text: str) -> None:
    print(f"{MARK} {what} {' '.join(text.split())}", flush=True)  # noqa: T201


if __name__ == "__main__":
    raise SystemExit(main(Path(sys.argv[1])))
