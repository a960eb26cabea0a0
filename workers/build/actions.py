"""What recorded steps do, and to which memory."""

from collections.abc import Iterable, Iterator

from kernels.contract import Choice, Launch, PointerArgument, TensorMapArgument, TensorOp

Recorded = Launch | TensorOp | Choice
Action = Launch | TensorOp


def actions(steps: Iterable[Recorded]) -> Iterator[Action]:
    """Launches and operations, those of every alternative among them."""
    for step in steps:
        if isinstance(step, Choice):
            for alternative in step.alternatives:
                yield from alternative.steps
        else:
            yield step


def written(action: Action) -> Iterator[int]:
    """Buffers that it may write: a kernel whatever it is given."""
    if isinstance(action, TensorOp):
        yield action.outputs[0].buffer
        return
    for argument in action.arguments:
        pointer = isinstance(argument, PointerArgument | TensorMapArgument)
        if pointer and argument.buffer is not None:  # type: ignore[union-attr]
            yield argument.buffer  # type: ignore[union-attr]


def touched(step: Recorded) -> Iterator[int]:
    """Buffers that it may read or write."""
    for action in actions([step]):
        if isinstance(action, Launch):
            yield from written(action)
        else:
            yield from (view.buffer for view in action.views())
    if isinstance(step, Choice):
        yield from (view.buffer for view in (*step.reset, *step.restore))
