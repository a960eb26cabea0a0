"""The plan of one case, put together from what was recorded."""

from pydantic import ValidationError

from kernels.contract import (
    Buffer,
    Case,
    CasePlan,
    Launch,
    View,
)
from workers.build.actions import Recorded, actions, touched, written
from workers.build.failures import BuildFailed, problem
from workers.build.kernels import BlobStore
from workers.build.memory import Allocation, Memory
from workers.build.recorder import Recorder


def assemble(
    case: Case, recorder: Recorder, outputs: tuple[View, ...], prefix: int, blobs: BlobStore
) -> CasePlan:
    """The plan of what was recorded; the first `prefix` steps are the module's own.

    BuildFailed if nothing was launched, or a result is not written.
    """
    memory = recorder.memory
    steps = _needed(memory, recorder.steps, outputs, prefix)
    launches = [a for a in actions(steps) if isinstance(a, Launch)]
    if not launches:
        raise BuildFailed(
            "rejected",
            f"case {case.name}: no Triton kernel was launched",
            "launch a kernel that computes the result",
        )
    filled = memory.reached({b for action in actions(steps) for b in written(action)})
    _check_outputs(case, outputs, filled)
    given = {b for step in steps for b in touched(step)}
    used = memory.reached(given | {view.buffer for view in outputs})
    results = {view.buffer for view in outputs}
    try:
        return CasePlan(
            case=case.name,
            buffers=tuple(_buffer(a, used, results, blobs) for a in memory.allocations),
            steps=tuple(steps),
            outputs=outputs,
            unchanged=tuple(sorted(_constants(recorder, used))),
            notes=tuple(recorder.notes),
        )
    except ValidationError as error:
        raise BuildFailed("rejected", problem(error)) from None


def _check_outputs(case: Case, outputs: tuple[View, ...], filled: set[int]) -> None:
    for number, view in enumerate(outputs):
        if view.numel and view.buffer not in filled:
            raise BuildFailed(
                "rejected",
                f"case {case.name}: no kernel and no operation writes result {number}",
                "return the tensor that a kernel was given to write",
            )


def _needed(
    memory: Memory, steps: list[Recorded], outputs: tuple[View, ...], prefix: int
) -> list[Recorded]:
    """Without what the module did at import and no case needs."""
    live = {view.buffer for view in outputs}
    for step in steps[prefix:]:
        live |= set(touched(step))
    kept: list[Recorded] = []
    for step in reversed(steps[:prefix]):
        reached = memory.reached(set(touched(step)))
        if memory.reached(live) & reached:
            live |= reached
            kept.append(step)
    return [*reversed(kept), *steps[prefix:]]


def _constants(recorder: Recorder, used: set[int]) -> set[int]:
    allocations = recorder.memory.allocations
    return {i for i in recorder.relied & used if allocations[i].role == "constant"}


def _buffer(allocation: Allocation, used: set[int], results: set[int], blobs: BlobStore) -> Buffer:
    if allocation.role == "input":
        return Buffer(
            nbytes=allocation.nbytes,
            role="input",
            name=allocation.name,
            values=allocation.values,
        )
    if allocation.index not in used:
        return Buffer(nbytes=0, role="temporary")
    if allocation.role == "constant":
        return Buffer(
            nbytes=allocation.nbytes,
            role="constant",
            content=blobs.put(allocation.content),
            relocations=allocation.relocations,
        )
    role = "output" if allocation.index in results else "temporary"
    return Buffer(nbytes=allocation.nbytes, role=role)
