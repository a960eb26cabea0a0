"""Compiler facts of a plan's kernels as the report shows them, with advice where it is sure."""

from collections.abc import Iterator

from kernels.contract import (
    DEVICES,
    CasePlan,
    Choice,
    InstructionMix,
    Kernel,
    KernelReport,
    Launch,
    Plan,
    Resources,
    Task,
    limits,
    occupancy,
)
from kernels.contract.wire import Rebuilt
from workers.rebuilding import Provenance

_NARROW_SHARE = 0.5


def kernel_reports(
    plan: Plan, task: Task, provenance: Provenance | None = None
) -> tuple[KernelReport, ...]:
    """Every kernel of a plan, with the cases and the configuration that launch it."""
    rebuilt = {} if provenance is None else provenance.kernels
    cases: dict[tuple[str, str], list[str]] = {}
    for case in plan.cases:
        for config, launch in _configured(case):
            names = cases.setdefault((launch.kernel, config), [])
            if case.case not in names:
                names.append(case.case)
    advisor = _Advisor(plan, task, rebuilt)
    return tuple(
        _report(plan, sha, config, tuple(names), rebuilt.get(sha), advisor)
        for (sha, config), names in list(cases.items())[: limits.KERNELS]
    )


def _report(
    plan: Plan,
    sha: str,
    config: str,
    cases: tuple[str, ...],
    found: Rebuilt | None,
    advisor: "_Advisor",
) -> KernelReport:
    kernel = plan.kernels[sha]
    resources = kernel.resources
    shared = resources.shared_bytes + resources.static_shared_bytes
    return KernelReport(
        function=kernel.function,
        cases=cases,
        config=config,
        warps=kernel.warps,
        stages=kernel.stages,
        ctas=kernel.ctas,
        resources=resources,
        occupancy=occupancy(DEVICES[plan.target.device], kernel.warps, resources.registers, shared),
        mix=None if found is None else found.mix,
        advice=tuple(advisor.advice(sha, kernel, cases)),
    )


class _Advisor:
    """What to change in a kernel, in one sentence each."""

    def __init__(self, plan: Plan, task: Task, rebuilt: dict[str, Rebuilt]) -> None:
        self._rebuilt = rebuilt
        self._counted = {case.name for case in task.cases if case.kind == "benchmark"}
        self._scalar = self._without_tensor_cores(plan) if task.cost.rate != "fp32" else set()
        """Kernels of matrix cases in which nothing uses tensor cores."""

    def advice(self, sha: str, kernel: Kernel, cases: tuple[str, ...]) -> Iterator[str]:
        """Sentences on a kernel; those on speed only where a benchmark case launches it."""
        spilled = _spilled(kernel.resources)
        if spilled:
            yield (
                f"It spills {spilled} bytes of registers per thread: use smaller blocks, "
                "more warps or fewer stages."
            )
        found = self._rebuilt.get(sha)
        if found is not None and found.specialization_ignored:
            yield "Triton ignored warp_specialize here: the loop does not have the form it needs."
        if found is None or found.mix is None or not self._counted.intersection(cases):
            return
        if sha in self._scalar:
            yield "It does not use tensor cores: multiply blocks of at least 16 x 16 with tl.dot."
        if _narrow(found.mix):
            yield (
                "It reads global memory 2 bytes at a time: make the fastest index contiguous "
                "and tell the compiler what it is divisible by (tl.multiple_of)."
            )

    def _without_tensor_cores(self, plan: Plan) -> set[str]:
        scalar: set[str] = set()
        for case in plan.cases:
            launched = {launch.kernel for launch in case.launches()}
            mixes = [found.mix for sha in launched if (found := self._rebuilt.get(sha))]
            known = [mix for mix in mixes if mix is not None]
            if len(known) == len(launched) and not any(m.wgmma or m.mma for m in known):
                scalar |= launched
        return scalar


def _spilled(resources: Resources) -> int:
    return (resources.spill_store_bytes or 0) + (resources.spill_load_bytes or 0)


def _narrow(mix: InstructionMix) -> bool:
    total = sum(mix.loads.values())
    return total > 0 and mix.loads.get("2", 0) > _NARROW_SHARE * total


def _configured(case: CasePlan) -> Iterator[tuple[str, Launch]]:
    for step in case.steps:
        if isinstance(step, Choice):
            for alternative in step.alternatives:
                for action in alternative.steps:
                    if isinstance(action, Launch):
                        yield alternative.config, action
        elif isinstance(step, Launch):
            yield "", step
