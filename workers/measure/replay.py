"""A case of a plan bound to memory: its steps run one by one, or as one CUDA graph."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

import torch
from torch import Tensor

from kernels.contract import Bundle, CasePlan, Choice, Launch, PlanRefused, TensorOp, View, limits
from kernels.contract.ops import FINISHING
from kernels.contract.steps import Action
from workers.measure import driver, faults, ops
from workers.measure.launch import BoundLaunch, Kernels, scratch_bytes
from workers.measure.memory import Memory

_SCRATCH_POOL = 256 * limits.MIB
"""Scratch of a case unless one launch needs more; launches take it in turn."""


@dataclass(frozen=True)
class Step:
    """One launch or operation, ready to run."""

    name: str
    """Kernel function or torch operation."""
    run: Callable[[], None]
    kernel: bool
    finishing: bool = False
    """Whether it is arithmetic by torch."""


@dataclass(frozen=True)
class BoundAlternative:
    """One configuration of a choice."""

    config: str
    steps: tuple[Step, ...]
    refusal: str = ""
    """Why it cannot run; empty if it can."""


@dataclass(frozen=True)
class BoundChoice:
    """A choice whose alternatives are ready to run."""

    id: int
    function: str
    alternatives: tuple[BoundAlternative, ...]
    reset: tuple[Tensor, ...]
    restore: tuple[Tensor, ...]


Picks = Mapping[int, int]
"""Index of the alternative taken, by the choice's id."""


class Replay:
    """The program of one case, bound to its memory."""

    def __init__(self, case: CasePlan, bundle: Bundle, kernels: Kernels, device: str) -> None:
        """Allocate and bind; PlanRefused for what does not fit, torch.OutOfMemoryError."""
        self._case = case
        self._kernels = kernels
        self.memory = Memory(case.buffers, bundle.blobs, _scratch(case, kernels), device)
        self.outputs = tuple(self.memory.tensor(view) for view in case.outputs)
        self.steps: list[Step | BoundChoice] = [
            self._choice(step) if isinstance(step, Choice) else self._action(step)
            for step in case.steps
        ]

    @property
    def unchanged(self) -> tuple[int, ...]:
        """Constants that must not change."""
        return self._case.unchanged

    def chosen(self, picks: Picks) -> Iterator[Step]:
        """All steps, with the alternatives picked; PlanRefused if one cannot run."""
        for step in self.steps:
            if isinstance(step, Step):
                yield step
                continue
            alternative = step.alternatives[picks.get(step.id, 0)]
            if alternative.refusal:
                raise PlanRefused(alternative.refusal)
            yield from alternative.steps

    def run(self, picks: Picks) -> None:
        """Run all steps on the current stream."""
        for step in self.chosen(picks):
            step.run()

    def run_watched(self, picks: Picks) -> None:
        """Run all steps, each to its end, so that a failure names its kernel."""
        for step in self.chosen(picks):
            run_to_end(step)

    def capture(self, picks: Picks) -> torch.cuda.CUDAGraph:
        """The steps as one graph; everything must have run once before."""
        return capture(lambda: self.run(picks))

    def _action(self, action: Action) -> Step:
        if isinstance(action, Launch):
            bound = BoundLaunch(action, self._kernels, self.memory)
            return Step(bound.name, bound.run, kernel=True)
        run = ops.bind(action, self.memory.tensor)
        return Step(_op_name(action), run, kernel=False, finishing=action.op in FINISHING)

    def _choice(self, choice: Choice) -> BoundChoice:
        alternatives = []
        for alternative in choice.alternatives:
            try:
                steps = tuple(self._action(action) for action in alternative.steps)
                alternatives.append(BoundAlternative(alternative.config, steps))
            except PlanRefused as error:
                alternatives.append(BoundAlternative(alternative.config, (), str(error)))
        return BoundChoice(
            choice.id,
            choice.function,
            tuple(alternatives),
            self._tensors(choice.reset),
            self._tensors(choice.restore),
        )

    def _tensors(self, views: tuple[View, ...]) -> tuple[Tensor, ...]:
        return tuple(self.memory.tensor(view) for view in views)


def run_to_end(step: Step) -> None:
    """Run one step and wait; KernelFailed and KernelHung name its kernel."""
    step.run()
    try:
        driver.synchronize()
    except faults.CudaError as error:
        raise faults.while_running(error, step.name if step.kernel else None) from None
    except faults.KernelHung:
        raise faults.KernelHung(
            f"the kernel {step.name} did not end within {driver.PATIENCE:.0f} s on the GPU"
        ) from None


def capture(work: Callable[[], object]) -> torch.cuda.CUDAGraph:
    """What `work` does on the current stream as a graph; nothing of it runs now.

    torch.cuda.graph() would also collect garbage and empty the allocator's cache, which takes
    longer than most measurements.
    """
    graph = torch.cuda.CUDAGraph()
    driver.synchronize()
    graph.capture_begin(capture_error_mode="thread_local")
    try:
        work()
    except BaseException:
        _abandon(graph)
        raise
    graph.capture_end()
    return graph


def _abandon(graph: torch.cuda.CUDAGraph) -> None:
    """End a capture that failed, so that the stream can be used again."""
    try:
        graph.capture_end()
    except RuntimeError:  # what broke the capture is on its way already
        return


def _scratch(case: CasePlan, kernels: Kernels) -> int:
    """Bytes of the scratch pool; room for alignment between launches included."""
    sizes = [scratch_bytes(launch, kernels.kernel(launch.kernel)) for launch in case.launches()]
    needed = [size + 4096 for size in sizes if size]
    return max(min(sum(needed), _SCRATCH_POOL), max(needed, default=0))


def _op_name(op: TensorOp) -> str:
    return op.op.split(".")[1]
