"""What host code does to the device, written down as the steps of a plan."""

import hashlib
import struct
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager

import torch
from torch.utils._python_dispatch import _disable_current_modes

from kernels.contract import Choice, Relocation, TensorOp, limits
from workers.build.actions import Recorded, actions, touched
from workers.build.drawn import Draw, Drawn
from workers.build.known import KnownValues
from workers.build.memory import Memory
from workers.facade import Refusal

_WORD = struct.Struct("<Q")
_WHEN_IMPORTED = (
    "this ran when the file was loaded: leave tests and benchmarks out, or put them under "
    '`if __name__ == "__main__":`'
)
_RANDOM = (
    "make random numbers inside a kernel with tl.rand and a seed; what kernels overwrite anyway is "
    "allocated by torch.empty"
)
_SCANNED_BYTES = 1 << 20
"""Constants up to this size are searched for device addresses."""


class Recorder:
    """The steps, buffers and notes of one case."""

    def __init__(self, line: Callable[[], int | None]) -> None:
        self.importing = True
        """Whether the module is being executed, and no case."""
        self.line = line
        """Line of the submission that is being run."""
        self.memory = Memory()
        self.known = KnownValues(self.memory)
        self.drawn = Drawn(self.memory)
        self.notes: dict[str, None] = {}
        self.refusals: list[tuple[Refusal, int | None]] = []
        self.relied: set[int] = set()
        """Constants that were read after a kernel had got them."""
        self._launched: set[int] = set()
        self._lists: list[list[Recorded]] = [[]]
        self._graphs = 0
        """How many of the lists are captured graphs."""
        self._choices: dict[object, int] = {}
        self.settled: set[int] = set()
        """Decisions for which the first configuration stands."""

    @property
    def steps(self) -> list[Recorded]:
        """Where the next step goes."""
        return self._lists[-1]

    @property
    def branching(self) -> bool:
        """Whether what is recorded now may not happen."""
        return len(self._lists) > 1

    @property
    def nested(self) -> bool:
        """Whether what is recorded now belongs to an alternative, where no choice can stand."""
        return len(self._lists) > 1 + self._graphs

    def emit(self, step: Recorded) -> None:
        """Add a step; Refusal when there are too many."""
        if isinstance(step, Choice) and step.id in self.settled:
            for action in step.alternatives[0].steps:
                self.emit(action)
            return
        if len(self.steps) >= limits.STEPS:
            raise self.refused(
                f"the host function issued more than {limits.STEPS} device operations",
                "do the loop inside a kernel",
            )
        self.use(touched(step))
        for action in actions([step]):
            if isinstance(action, TensorOp):
                read = {view.buffer for view in action.views()}
                self.memory.carry(read, action.outputs[0].buffer)
        self.steps.append(step)

    @contextmanager
    def capture(self) -> Iterator[list[Recorded]]:
        """Record the body's steps into a list of their own."""
        self.begin()
        steps = self.steps
        try:
            yield steps
        finally:
            self.end()

    def begin(self) -> None:
        """Start a list of its own."""
        self._lists.append([])

    def end(self) -> list[Recorded]:
        """End the newest list; a submission that ends more than it began gets an empty one."""
        return self._lists.pop() if self.branching else []

    def begin_graph(self) -> None:
        """Start the list of a graph."""
        self._graphs += 1
        self.begin()

    def end_graph(self) -> list[Recorded]:
        """End it."""
        self._graphs = max(self._graphs - 1, 0)
        return self.end()

    def choice(self, key: object) -> int:
        """Number of the autotuner's decision with that key."""
        return self._choices.setdefault(key, len(self._choices))

    def settle(self, choice: int) -> None:
        """Let the first configuration of a decision stand, before and from now on."""
        self.settled.add(choice)
        for steps in self._lists:
            recorded = list(steps)
            steps.clear()
            for step in recorded:
                open_ = isinstance(step, Choice) and step.id == choice
                steps += step.alternatives[0].steps if open_ else [step]  # type: ignore[union-attr]

    def repeat(self, steps: Iterable[Recorded]) -> None:
        """Record once more what was captured; whatever it writes is no longer known."""
        for step in steps:
            self.emit(step)
            for action in actions([step]):
                if isinstance(action, TensorOp):
                    self.known.forget(action.outputs[0].buffer)
                    continue
                for argument in action.arguments:
                    index = getattr(argument, "buffer", None)
                    if index is not None:
                        self.handed(index)

    def note(self, text: str) -> None:
        """Say once what a reader of the plan should know."""
        if len(self.notes) < 64:
            self.notes.setdefault(text[:500])

    def use(self, indices: Iterable[int]) -> None:
        """Something needs what allocations hold; Refusal if that is random numbers."""
        found = self.drawn.among(indices)
        if found is not None:
            raise self.refused_draw(found)

    def refused_draw(self, draw: Draw) -> Refusal:
        """A refusal at the line at which random numbers were drawn."""
        refusal = self.refused(
            f"{draw.operation} draws random numbers, which would differ in every replay",
            _WHEN_IMPORTED if draw.importing else _RANDOM,
        )
        self.refusals[-1] = (refusal, draw.line)
        return refusal

    def refused(self, reason: str, remedy: str | None = None) -> Refusal:
        """A refusal to raise, remembered in case host code swallows it."""
        refusal = Refusal(reason, _WHEN_IMPORTED if self.importing else remedy)
        if not self.refusals or self.refusals[-1][0] is not refusal:  # nobody listens
            self.remember(refusal)
        return refusal

    def remember(self, refusal: Refusal) -> None:
        """Keep a refusal, in case host code swallows it."""
        self.refusals.append((refusal, self.line()))

    def launched(self, tensor: torch.Tensor) -> None:
        """A kernel got a tensor."""
        self.handed(self.memory.of(tensor).index)

    def handed(self, index: int) -> None:
        """A kernel got an allocation, and with it whatever that holds addresses of."""
        handed = self.memory.reached({index})
        self.use(handed)
        for reached in handed:
            self._launched.add(reached)
            self.known.launched(reached)

    def read(self, tensor: torch.Tensor, what: str) -> torch.Tensor:
        """Values of a device tensor on the CPU; Refusal unless host code made them itself."""
        index = self.memory.of(tensor).index
        self.use({index})
        values = self.known.get(tensor)
        if values is None:
            raise self.refused(
                f"{what} reads the values of a device tensor of shape {tuple(tensor.size())}, "
                "which host code cannot see: it runs before the GPU does",
                "decide by shapes, strides and dtypes, or do it inside a kernel",
            )
        if index in self._launched:
            self.relied.add(index)
        return values.clone()

    def show(self, tensor: torch.Tensor, content: bytes, lasting: bool) -> None:
        """Let host code read an input; `lasting` if kernels may not change it.

        A change of such an input is found after every run, so nothing need be said in the plan.
        """
        allocation = self.memory.of(tensor)
        allocation.values = hashlib.sha256(content).hexdigest()
        self.known.hold(allocation.index, content, "host" if lasting else "fill")

    def upload(self, values: torch.Tensor) -> torch.Tensor:
        """A device tensor that holds a constant."""
        with torch._C.DisableTorchFunction(), _disable_current_modes():
            values = values.detach()
            dense = torch.empty_like(values, memory_format=torch.preserve_format)
            dense.copy_(values)
            tensor = torch.empty_strided(
                dense.size(), dense.stride(), dtype=dense.dtype, device="meta"
            )
            allocation = self.memory.of(tensor)
            content = _bytes(dense)
            allocation.role, allocation.content = "constant", content
            allocation.relocations = self._relocations(content)
            self.known.put(tensor, dense, "host")
        return tensor

    def _relocations(self, content: bytes) -> tuple[Relocation, ...]:
        if len(content) > _SCANNED_BYTES:
            return ()
        words = content[: len(content) // 8 * 8]
        places = ((i * 8, self.memory.find(w)) for i, (w,) in enumerate(_WORD.iter_unpack(words)))
        return tuple(
            Relocation(at=at, buffer=place[0].index, offset=place[1])
            for at, place in places
            if place is not None
        )


def _bytes(dense: torch.Tensor) -> bytes:
    flat = torch.empty(0, dtype=torch.uint8).set_(dense.untyped_storage())
    return flat.numpy().tobytes()
