"""The plan of one case, put together from what was recorded."""

from collections.abc import Iterator
from typing import Any

from pydantic import ValidationError

from kernels.contract import (
    Buffer,
    Case,
    CasePlan,
    Choice,
    Launch,
    PointerArgument,
    TensorMapArgument,
    View,
)
from workers.build.failures import BuildFailed, problem
from workers.build.kernels import BlobStore
from workers.build.memory import Allocation, Memory
from workers.build.recorder import Recorded, Recorder


def assemble(
    case: Case, recorder: Recorder, outputs: tuple[View, ...], prefix: int, blobs: BlobStore
) -> CasePlan:
    """The plan of what was recorded; the first `prefix` steps are the module's own.

    BuildFailed if nothing was launched, or a result is not written.
    """
    memory = recorder.memory
    steps = _needed(memory, recorder.steps, outputs, prefix)
    launches = [a for a in _actions(steps) if isinstance(a, Launch)]
    if not launches:
        raise BuildFailed(
            "rejected",
            f"case {case.name}: no Triton kernel was launched",
            "launch a kernel that computes the result",
        )
    written = memory.reached({b for action in _actions(steps) for b in _written(action)})
    _check_outputs(case, outputs, written)
    touched = {b for step in steps for b in _touched(step)}
    used = memory.reached(touched | {view.buffer for view in outputs})
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


def _check_outputs(case: Case, outputs: tuple[View, ...], written: set[int]) -> None:
    for number, view in enumerate(outputs):
        if view.numel and view.buffer not in written:
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
        live |= set(_touched(step))
    kept: list[Recorded] = []
    for step in reversed(steps[:prefix]):
        touched = memory.reached(set(_touched(step)))
        if memory.reached(live) & touched:
            live |= touched
            kept.append(step)
    return [*reversed(kept), *steps[prefix:]]


def _actions(steps: list[Recorded]) -> Iterator[Any]:
    for step in steps:
        if isinstance(step, Choice):
            for alternative in step.alternatives:
                yield from alternative.steps
        else:
            yield step


def _touched(step: Recorded) -> Iterator[int]:
    for action in _actions([step]):
        if isinstance(action, Launch):
            yield from _written(action)
        else:
            yield from (view.buffer for view in action.views())
    if isinstance(step, Choice):
        yield from (view.buffer for view in (*step.reset, *step.restore))


def _written(action: Any) -> Iterator[int]:
    if not isinstance(action, Launch):
        yield action.outputs[0].buffer
        return
    for argument in action.arguments:
        pointer = isinstance(argument, PointerArgument | TensorMapArgument)
        if pointer and argument.buffer is not None:  # type: ignore[union-attr]
            yield argument.buffer  # type: ignore[union-attr]


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
