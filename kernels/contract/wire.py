"""What worker parents ask of the processes behind the jail, and what those answer.

Every message is one frame (`frame.py`): the model's JSON as header, raw bytes as blobs.
Answers of `build` and `interpret` are hostile input.
"""

from collections.abc import Sequence
from typing import Annotated, Literal, Self

from pydantic import Field, ValidationError

from kernels.contract import frame, limits
from kernels.contract._model import Identifier, Model, Name, Sha256, ShortText
from kernels.contract.bundle import first_problem
from kernels.contract.ceilings import Ceilings
from kernels.contract.compiler import InstructionMix
from kernels.contract.device import DeviceName
from kernels.contract.report import CaseResult, Diagnostic, Environment, GpuSeconds
from kernels.contract.task import Task
from kernels.contract.tensor import Distribution

Seed = Annotated[int, Field(ge=0, lt=2**63)]


class AnswerRefused(ValueError):
    """An answer is not what its sender was asked for; the message says why."""


class Message(Model):
    """Base of all messages."""

    def pack(self, blobs: tuple[bytes, ...] = ()) -> bytes:
        """The message as one frame."""
        return frame.pack(self.model_dump_json(), blobs)

    @classmethod
    def unpack(cls, data: bytes) -> tuple[Self, list[bytes]]:
        """The message and its blobs; AnswerRefused for anything else."""
        try:
            header, blobs = frame.unpack(data)
            return cls.model_validate_json(header), blobs
        except frame.FrameRefused as error:
            raise AnswerRefused(str(error)) from None
        except ValidationError as error:
            raise AnswerRefused(first_problem(error)) from None


class Failure(Model):
    """Why a submission could not be built or run; its own fault."""

    verdict: Literal[
        "rejected",
        "build_error",
        "timeout",
        "runtime_error",
        "memory_violation",
        "wrong_answer",
    ]
    reason: ShortText = Field(min_length=1)
    """One sentence."""
    diagnostics: tuple[Diagnostic, ...] = Field((), max_length=16)


class BuildRequest(Message):
    """To `build`: make the launch plan of a submission; blobs as in HostValuesAnswer."""

    kind: Literal["build"] = "build"
    source: str
    entry: Identifier
    task: Task
    device: DeviceName
    seconds: float = Field(gt=0, le=600)
    """Processor time of all processes together; optional work such as further configurations is
    left out when it runs short."""


class BuildAnswer(Message):
    """From `build`: a failure, or blob 0 is the packed Bundle."""

    failure: Failure | None = None


class RebuildKernel(Model):
    """What a kernel is compiled from again."""

    kind: Literal["ttir", "ttgir"]
    """Which text; Gluon kernels begin as TTGIR."""
    options: dict[Identifier, bool | int | ShortText] = Field({}, max_length=32)


class RebuildRequest(Message):
    """To `build`: compile kernels again, with no submitted code. Blobs: the texts, compressed."""

    kind: Literal["rebuild"] = "rebuild"
    kernels: tuple[RebuildKernel, ...] = Field(max_length=limits.KERNELS)
    seconds: float = Field(gt=0, le=limits.PATIENCE * 600)
    """By the clock; kernels that it does not reach are left out."""


class Rebuilt(Model):
    """A kernel that was compiled again."""

    cubin: Sha256
    """Digest of what came of it."""
    mix: InstructionMix | None = None
    """None where it could not be disassembled."""
    specialization_ignored: bool = False
    """Whether it asked for warp specialisation and did not get it."""


class RebuildAnswer(Message):
    """From `build`; blobs: the compressed SASS of each kernel that has a mix, in order."""

    kernels: tuple[Rebuilt | None, ...] = Field(max_length=limits.KERNELS)
    """In the order asked; None for a kernel that did not compile in time."""


class Run(Model):
    """One set of inputs of one case."""

    case: Name
    distribution: Distribution
    round: int = Field(ge=0, lt=1000)
    """Tells apart several draws of one distribution."""


class HostValuesRequest(Message):
    """To `measure`: make the inputs that host code may read; answered by HostValuesAnswer."""

    kind: Literal["host_values"] = "host_values"
    task: Task
    reference: ShortText
    """Path of the task's reference.py."""


class HostValuesAnswer(Message):
    """Blobs: for each case, the buffer of each host-visible input (TensorSpec.nbytes), in order."""


class InputsRequest(Message):
    """To `measure`: make inputs; answered by InputsAnswer."""

    kind: Literal["inputs"] = "inputs"
    task: Task
    reference: ShortText
    """Path of the task's reference.py."""
    seed: Seed
    runs: tuple[Run, ...] = Field(max_length=1000)


class InputsAnswer(Message):
    """Blobs: for each run, the buffer of each input tensor (TensorSpec.nbytes), in order."""


class KernelFacts(Model):
    """What host code may ask of a compiled kernel, taken from the plan."""

    function: Identifier
    registers: int
    spills: int
    shared: int
    warps: int


class InterpretRequest(Message):
    """To `interpret`: call the submission on CPU tensors; blobs as in InputsAnswer."""

    source: str
    entry: Identifier
    task: Task
    device: DeviceName
    runs: tuple[Run, ...] = Field(max_length=1000)
    kernels: tuple[KernelFacts, ...] = Field((), max_length=limits.KERNELS)
    configs: dict[ShortText, tuple[ShortText, ...]] = {}
    """Autotune configurations that survived the build, by tuned function."""


class InterpretAnswer(Message):
    """Blobs: for each run with results, the contiguous bytes of each, in order."""

    completed: int = Field(ge=0, le=1000)
    """Runs that did not fail, from the first."""
    failure: Failure | None = None
    """Of the run after those."""
    left_out: dict[int, ShortText] = Field({}, max_length=1000)
    """Of completed runs that the interpreter cannot run and that have no results: why, by place."""
    caveats: tuple[ShortText, ...] = Field((), max_length=16)
    """What the interpreter cannot vouch for in this submission."""

    def with_results(self, runs: Sequence[Run]) -> tuple[Run, ...]:
        """Those of the runs asked for that have results."""
        done = enumerate(runs[: self.completed])
        return tuple(run for place, run in done if place not in self.left_out)


class CompareRequest(Message):
    """To `measure`: compare results; blobs as in InterpretAnswer."""

    kind: Literal["compare"] = "compare"
    task: Task
    reference: ShortText
    seed: Seed
    runs: tuple[Run, ...] = Field(max_length=1000)


class CompareAnswer(Message):
    """One result per case, in the order the runs first name them; verdict `checked` if right."""

    cases: tuple[CaseResult, ...]


class ProbeRequest(Message):
    """To `measure` with a GPU: look whether it is healthy; answered by ProbeAnswer."""

    kind: Literal["probe"] = "probe"


class ProbeAnswer(Message):
    """From `measure`: what is wrong with the GPU."""

    problem: ShortText = ""
    """One sentence; empty for a healthy one."""


class CeilingsRequest(Message):
    """To `measure` with a GPU: measure what it reaches; answered by CeilingsAnswer."""

    kind: Literal["ceilings"] = "ceilings"
    device: DeviceName


class CeilingsAnswer(Message):
    """From `measure`, at a worker's start."""

    ceilings: Ceilings


class MeasureRequest(Message):
    """To `measure` with a GPU: judge a plan; blob 0 is the packed Bundle."""

    kind: Literal["measure"] = "measure"
    task: Task
    reference: ShortText
    device: DeviceName
    seed: Seed
    seconds: float = Field(gt=0, le=600)
    """Budget for all cases."""
    ceilings: Ceilings | None = None
    """What the GPU reached when its worker started."""


class MeasureAnswer(Message):
    """From `measure`: results of all cases, or why the plan could not be judged."""

    cases: tuple[CaseResult, ...] = ()
    failure: Failure | None = None
    """The plan's fault."""
    environment: Environment | None = None
    gpu: GpuSeconds | None = None
    """For how long the GPU was held, as far as the measurer itself can see."""
