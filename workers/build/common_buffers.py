"""Buffers that serve several plans of one case: each plan keeps its views, some move."""

from collections.abc import Mapping, Sequence

from kernels.contract import (
    Buffer,
    CasePlan,
    Choice,
    Launch,
    PointerArgument,
    TensorMapArgument,
    TensorOp,
    View,
)
from kernels.contract.steps import Action, Argument, OpArgument, OpScalar

Places = Mapping[int, int]
"""Where each buffer of a plan lies among the common ones."""
_UNUSED = Buffer(nbytes=0, role="temporary")


def join(buffers: Sequence[Buffer], plan: CasePlan) -> tuple[tuple[Buffer, ...], CasePlan] | None:
    """Common buffers, and the plan over them; None if a result or an address would move."""
    joined = list(buffers)
    places: dict[int, int] = {}
    for index, buffer in enumerate(plan.buffers):
        shared = _shared(joined[index] if index < len(buffers) else _UNUSED, buffer)
        if shared is None or index >= len(buffers):
            joined.append(buffer)
            places[index] = len(joined) - 1
        else:
            joined[index] = shared
            places[index] = index
    moved = {index for index, place in places.items() if index != place}
    named = {r.buffer for buffer in plan.buffers for r in buffer.relocations}
    if moved & (named | {view.buffer for view in plan.outputs}):
        return None
    steps = tuple(_step(step, places) for step in plan.steps) if moved else plan.steps
    unchanged = tuple(places[index] for index in plan.unchanged)
    return tuple(joined), plan.model_copy(update={"steps": steps, "unchanged": unchanged})


def _shared(one: Buffer, other: Buffer) -> Buffer | None:
    if other in (one, _UNUSED):
        return one
    if one == _UNUSED:
        return other
    if one.role != other.role or one.role not in ("temporary", "output"):
        return None
    return one if one.nbytes >= other.nbytes else other


def _step(step: Launch | TensorOp | Choice, places: Places) -> Launch | TensorOp | Choice:
    if not isinstance(step, Choice):
        return _action(step, places)
    return step.model_copy(
        update={
            "alternatives": tuple(
                a.model_copy(update={"steps": tuple(_action(s, places) for s in a.steps)})
                for a in step.alternatives
            ),
            "reset": tuple(_view(view, places) for view in step.reset),
            "restore": tuple(_view(view, places) for view in step.restore),
        }
    )


def _action(action: Action, places: Places) -> Action:
    if isinstance(action, Launch):
        arguments = tuple(_argument(argument, places) for argument in action.arguments)
        return action.model_copy(update={"arguments": arguments})
    return action.model_copy(
        update={
            "arguments": tuple(_operand(value, places) for value in action.arguments),
            "keywords": {name: _operand(v, places) for name, v in action.keywords.items()},
            "outputs": tuple(_view(view, places) for view in action.outputs),
        }
    )


def _argument(argument: Argument, places: Places) -> Argument:
    if not isinstance(argument, PointerArgument | TensorMapArgument) or argument.buffer is None:
        return argument
    return argument.model_copy(update={"buffer": places[argument.buffer]})


def _operand(value: OpArgument, places: Places) -> OpArgument:
    if isinstance(value, tuple):
        return tuple(_scalar(item, places) for item in value)
    return _scalar(value, places)


def _scalar(value: OpScalar, places: Places) -> OpScalar:
    return _view(value, places) if isinstance(value, View) else value


def _view(view: View, places: Places) -> View:
    return view.model_copy(update={"buffer": places[view.buffer]})
