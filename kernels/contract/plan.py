"""The launch plan: what a submission would do on the GPU, as data that can be checked."""

import hashlib
import json
from collections.abc import Iterator
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from kernels.contract import limits
from kernels.contract._model import Count, Identifier, Model, Name, Sha256, ShortText, Symbol
from kernels.contract.device import DeviceName
from kernels.contract.steps import Action, Choice, Launch, PointerArgument, Step, TensorMapArgument
from kernels.contract.view import View

TextKind = Literal["ttir", "ttgir", "llir", "ptx", "sass"]


class Target(Model):
    """What a plan was built for."""

    device: DeviceName
    architecture: Literal["sm_90a"]
    triton: ShortText
    """Triton's version."""
    abi: Literal[1] = 1
    """Raised when a change makes old plans unreadable."""


class Resources(Model):
    """What the compiler gave a kernel; from the cubin and the log of ptxas."""

    registers: int = Field(ge=0, le=255)
    """Per thread."""
    stack_bytes: Count
    """Local memory per thread: spills and arrays alike."""
    spill_store_bytes: Count | None
    """True spills as ptxas counts them; None where its log was not there."""
    spill_load_bytes: Count | None
    shared_bytes: int = Field(ge=0, le=limits.SHARED_BYTES)
    """Dynamic shared memory per block."""
    static_shared_bytes: Count


class Kernel(Model):
    """One compiled kernel; its key in the plan is the digest of its cubin."""

    symbol: Symbol
    """Entry point in the cubin."""
    function: Identifier
    """Name of the Python function."""
    warps: int = Field(ge=1, le=limits.THREADS // 32)
    """Warps per block in total, warp-specialised ones included."""
    stages: int = Field(ge=0, le=64)
    """Software-pipeline depth asked for."""
    ctas: int = Field(1, ge=1, le=limits.CLUSTER)
    """Blocks per cluster."""
    global_scratch_bytes: int = Field(0, ge=0, le=limits.SCRATCH_BYTES)
    """Scratch per block, for device-side tensor descriptors."""
    global_scratch_align: int = Field(1, ge=1, le=4096)
    cooperative: bool = False
    """All blocks must be resident at once."""
    dependent: bool = False
    """Programmatic dependent launch."""
    resources: Resources
    options: dict[Identifier, bool | int | ShortText] = Field({}, max_length=32)
    """Compile options that are not Triton's defaults: with the TTIR, all it takes to rebuild it."""
    texts: dict[TextKind, Sha256] = {}
    """Blobs of the texts a person may read, zlib-compressed."""


class Relocation(Model):
    """A device address inside a constant, filled in by whoever replays."""

    at: Count
    """Byte in the constant where the 8-byte address goes."""
    buffer: int = Field(ge=0, lt=limits.BUFFERS)
    offset: Count


class Buffer(Model):
    """One allocation."""

    nbytes: int = Field(ge=0, le=limits.CASE_BYTES)
    role: Literal["input", "output", "temporary", "constant"]
    """`output` if a result lies in it and it is no input."""
    name: Identifier | None = None
    """Of an input: which argument."""
    content: Sha256 | None = None
    """Of a constant: the blob with its bytes."""
    values: Sha256 | None = None
    """Of a host-visible input: digest of the bytes that host code was shown."""
    relocations: tuple[Relocation, ...] = Field((), max_length=limits.RELOCATIONS)

    @model_validator(mode="after")
    def _fits_its_role(self) -> Self:
        if (self.role == "input") != (self.name is not None):
            raise ValueError("inputs, and only inputs, are named")
        if (self.role == "constant") != (self.content is not None):
            raise ValueError("constants, and only constants, have content")
        if self.values is not None and self.role != "input":
            raise ValueError("only inputs have values that host code was shown")
        if self.relocations and self.role != "constant":
            raise ValueError("only constants hold relocations")
        if any(r.at + 8 > self.nbytes for r in self.relocations):
            raise ValueError("a relocation lies outside its constant")
        return self


class CasePlan(Model):
    """The straight-line program of one case."""

    case: Name
    buffers: tuple[Buffer, ...] = Field(max_length=limits.BUFFERS)
    steps: tuple[Step, ...] = Field(min_length=1, max_length=limits.STEPS)
    outputs: tuple[View, ...] = Field(min_length=1, max_length=64)
    """Where the task's results lie, in order."""
    unchanged: tuple[int, ...] = Field((), max_length=limits.BUFFERS)
    """Constants whose values host code relied on: they must be the same after a run."""
    notes: tuple[ShortText, ...] = Field((), max_length=64)
    """What a reader should know, such as dropped configurations."""

    @model_validator(mode="after")
    def _inside_bounds(self) -> Self:
        if sum(buffer.nbytes for buffer in self.buffers) > limits.CASE_BYTES:
            raise ValueError(f"case {self.case} needs more than {limits.CASE_BYTES} bytes")
        if not any(True for _ in self.launches()):
            raise ValueError(f"case {self.case}: no Triton kernel was launched")
        for view in self._views():
            self._inside(view.buffer, view.end)
        for buffer in self.buffers:
            for relocation in buffer.relocations:
                self._inside(relocation.buffer, relocation.offset)
        for index in self.unchanged:
            self._inside(index, 0)
        if sum(1 for _ in self.actions()) > limits.STEPS * 4:
            raise ValueError(f"case {self.case} has too many steps in its alternatives")
        self._check_launches()
        self._check_choices()
        return self

    def _check_launches(self) -> None:
        for launch in self.launches():
            for argument in launch.arguments:
                if isinstance(argument, PointerArgument) and argument.buffer is not None:
                    self._inside(argument.buffer, argument.offset)
                elif isinstance(argument, TensorMapArgument):
                    self._inside(argument.buffer, argument.end)

    def _check_choices(self) -> None:
        shapes: dict[int, tuple[str, ...]] = {}
        for step in self.steps:
            if isinstance(step, Choice):
                configs = tuple(alternative.config for alternative in step.alternatives)
                if shapes.setdefault(step.id, configs) != configs:
                    raise ValueError(f"choice {step.id} has different alternatives in two places")

    def _inside(self, buffer: int, end: int) -> None:
        if buffer >= len(self.buffers):
            raise ValueError(f"case {self.case} has no buffer {buffer}")
        if end > self.buffers[buffer].nbytes:
            raise ValueError(f"byte {end} lies outside buffer {buffer} of case {self.case}")

    def _views(self) -> Iterator[View]:
        yield from self.outputs
        for action in self.actions():
            if not isinstance(action, Launch):
                yield from action.views()
        for step in self.steps:
            if isinstance(step, Choice):
                yield from (*step.reset, *step.restore)

    def actions(self) -> Iterator[Action]:
        """Every launch and operation, those of all alternatives included."""
        for step in self.steps:
            if isinstance(step, Choice):
                for alternative in step.alternatives:
                    yield from alternative.steps
            else:
                yield step

    def launches(self) -> Iterator[Launch]:
        """Every launch, those of all alternatives included."""
        return (action for action in self.actions() if isinstance(action, Launch))


class Plan(Model):
    """All cases of a submission, and the kernels they launch."""

    target: Target
    kernels: Annotated[dict[Sha256, Kernel], Field(max_length=limits.KERNELS)]
    cases: tuple[CasePlan, ...] = Field(min_length=1, max_length=limits.CASES)
    notes: tuple[ShortText, ...] = Field((), max_length=64)

    @model_validator(mode="after")
    def _kernels_known(self) -> Self:
        names = [case.case for case in self.cases]
        if len(set(names)) != len(names):
            raise ValueError("two cases of the plan share a name")
        for case in self.cases:
            for launch in case.launches():
                kernel = self.kernels.get(launch.kernel)
                if kernel is None:
                    raise ValueError(f"kernel {launch.kernel[:12]} is launched but not in the plan")
                _check_cluster(launch, kernel)
        return self

    def case(self, name: str) -> CasePlan:
        """The plan of one case; KeyError if it has none."""
        for case in self.cases:
            if case.case == name:
                return case
        raise KeyError(f"the plan has no case {name!r}")

    @property
    def digest(self) -> str:
        """Stable name of what the plan does: SHA-256 of its JSON without the texts for people."""
        data = self.model_dump(mode="json")
        for kernel in data["kernels"].values():
            del kernel["texts"]
        text = json.dumps(data, sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(text.encode()).hexdigest()

    def blobs(self) -> set[str]:
        """Digests of all blobs the plan names."""
        digests: set[str] = set(self.kernels)
        for kernel in self.kernels.values():
            digests.update(kernel.texts.values())
        for case in self.cases:
            digests.update(b.content for b in case.buffers if b.content is not None)
        return digests


def _check_cluster(launch: Launch, kernel: Kernel) -> None:
    x, y, z = launch.grid
    if x * kernel.ctas > limits.GRID_X:
        raise ValueError(f"grid {launch.grid} of {kernel.ctas}-block clusters is too large")
    if x * y * z * kernel.ctas * kernel.global_scratch_bytes > limits.SCRATCH_BYTES:
        raise ValueError(f"launch of {kernel.function} needs more than 1 GiB of global scratch")
