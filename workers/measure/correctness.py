"""Whether a case's results are right, repeatable and all that its plan wrote."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import torch
from torch import Tensor

from kernels.contract import Case, Distribution, Mismatch, TensorSpec, Verdict
from workers.measure import driver, faults
from workers.measure.bench import GPU, Bench
from workers.measure.compare import Comparison, comparer
from workers.measure.memory import Damage
from workers.measure.repetition import copies, repeat
from workers.measure.replay import Picks, Replay

_RACE = "the same inputs gave other bits when they were run again: the kernels race"
_POISON = (
    "the same inputs gave other bits when they were run again over other garbage: the result "
    "depends on memory that was never written, or the kernels race"
)


@dataclass(frozen=True)
class Finding:
    """What is wrong with a case."""

    verdict: Verdict
    reason: str
    """One sentence."""
    mismatch: Mismatch | None = None


@dataclass
class Correctness:
    """Checks one case of a plan and collects its errors."""

    bench: Bench
    case: Case
    replay: Replay
    picks: Picks
    comparisons: list[Comparison] = field(default_factory=list)

    @property
    def results(self) -> tuple[TensorSpec, ...]:
        """What the task says of the results."""
        return self.bench.request.task.results(self.case)

    def check(self, distribution: Distribution, round_: int, repeats: int) -> Finding | None:
        """Run on one set of inputs several times; the first thing that is wrong.

        The reference is computed only when the plan has run, from inputs it could not reach.
        """
        buffers = self.bench.make_inputs(self.case, distribution, round_).buffers
        image = self.replay.memory.image(buffers)
        seed = self.bench.seed("poison", self.case.name, distribution, round_)
        runs = repeat(
            self.replay.memory, image, self.replay.outputs, self._run,
            lambda: self._damage(image), repeats, torch.Generator(GPU).manual_seed(seed),
        )  # fmt: skip
        if runs.damage is not None:
            return Finding(*self._damaged(runs.damage))
        found = self.judge(runs.outputs, distribution, round_)
        if self.bench.request.task.permissions.atomics or not runs.race + runs.poisoned:
            return found
        reason = _RACE if runs.race else _POISON
        if found is None:
            return Finding(Verdict.UNSTABLE, reason)
        return Finding(found.verdict, f"{found.reason}; {reason}"[:500], found.mismatch)

    def judge(
        self, outputs: Sequence[Tensor], distribution: Distribution, round_: int
    ) -> Finding | None:
        """Compare results with the reference of the inputs they were made from."""
        return self.judge_runs([outputs], distribution, round_)

    def judge_runs(
        self, runs: Sequence[Sequence[Tensor]], distribution: Distribution, round_: int
    ) -> Finding | None:
        """Compare the results of several runs on the same inputs."""
        made = self.bench.make_inputs(self.case, distribution, round_)
        tolerance = self.bench.request.task.tolerance
        compare = comparer(
            self.bench.reference, made.arguments, self.results, tolerance, distribution.value
        )
        for outputs in runs:
            comparisons = compare(outputs)
            self.comparisons += comparisons
            for comparison in comparisons:
                if comparison.reason:
                    return Finding(Verdict.WRONG_ANSWER, comparison.reason, comparison.mismatch)
        return None

    def inspect(self, image: Tensor) -> Finding | None:
        """What the last run changed and may not change."""
        damage = self._damage(image)
        return None if damage is None else Finding(*self._damaged(damage))

    def outputs(self) -> tuple[Tensor, ...]:
        """Row-major copies of the results."""
        return copies(self.replay.outputs)

    def _damage(self, image: Tensor) -> Damage | None:
        in_place = self.bench.request.task.permissions.in_place
        return self.replay.memory.damage(image, self.replay.unchanged, in_place)

    def _run(self, number: int) -> None:
        if number == 0:
            self.replay.run_watched(self.picks)
            return
        self.replay.run(self.picks)
        try:
            driver.synchronize()
        except faults.CudaError as error:
            raise faults.while_running(error, None) from None

    def _damaged(self, damage: Damage) -> tuple[Verdict, str]:
        name = self._name_of(damage.buffer)
        if damage.kind == "input":
            return Verdict.WRONG_ANSWER, f"it changed its input {name} ({damage.count} bytes)"
        if damage.kind == "constant":
            return Verdict.REJECTED, (
                "a kernel changed a tensor whose values the host code had used: "
                "the host code must not depend on what kernels compute"
            )
        return Verdict.MEMORY_VIOLATION, (
            f"it wrote outside its buffers: {damage.count} bytes {damage.side} {name}"
        )

    def _name_of(self, index: int) -> str:
        plan = self.bench.bundle.plan.case(self.case.name)
        for view, spec in zip(plan.outputs, self.results, strict=True):
            if view.buffer == index:
                return f"the result {spec.name}"
        if index >= len(plan.buffers):
            return "a kernel's scratch memory"
        buffer = plan.buffers[index]
        return buffer.name or f"a {buffer.role} tensor of {buffer.nbytes} bytes"
