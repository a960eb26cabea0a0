"""What a tool saw in a plan: accesses that are wrong, races, and the GPU's counters."""

from typing import Literal

from pydantic import Field

from kernels.contract._model import Count, Model, Name, ShortText
from kernels.contract.compiler import Limit

MOST_FINDINGS = 64
"""Errors, races or kernels that are kept; a number says how many there were."""


class Access(Model):
    """One side of an error: what a kernel did, and where."""

    kind: Literal["read", "write", "atomic", "other"]
    line: int | None = Field(None, ge=1)
    """Line of the submission; None where the cubin does not say."""
    instruction: ShortText = ""
    """Place in the machine code, such as +0x1a0."""


class AccessError(Model):
    """A wrong access to memory, as often as it was seen in one place."""

    case: Name
    kernel: ShortText
    access: Access
    space: ShortText
    """global, shared or local."""
    nbytes: Count
    """Of one thread's access."""
    reason: ShortText
    """Such as: is out of bounds."""
    distance: ShortText = ""
    """Where the address lies beside the nearest tensor."""
    thread: ShortText = ""
    block: ShortText = ""
    """Of the first one seen."""
    count: Count = 1


class Race(Model):
    """Two accesses to the same shared memory with no barrier between them."""

    case: Name
    kernel: ShortText
    first: Access
    second: Access
    hazards: Count
    """Pairs of accesses that were seen."""
    severity: Literal["error", "warning", "info"] = "error"


class Stall(Model):
    """What warps waited for."""

    reason: ShortText
    """Nsight Compute's name for it, such as long_scoreboard."""
    share: float = Field(ge=0, le=1)
    """Of all cycles between two instructions of a warp."""


class KernelProfile(Model):
    """Counters of one launch. Shares are of what the hardware can sustain."""

    case: Name
    kernel: ShortText
    microseconds: float | None = Field(None, ge=0)
    """Under the tool, with cold caches; not comparable with the judge's clock."""
    compute: float | None = Field(None, ge=0)
    """Share of the multiprocessors' throughput."""
    memory: float | None = Field(None, ge=0)
    """Share of the memory system's throughput, whichever level is nearest its limit."""
    dram: float | None = Field(None, ge=0)
    """Share of the device memory's bandwidth."""
    l2_hits: float | None = Field(None, ge=0)
    """Share of L2 accesses that hit."""
    occupancy: float | None = Field(None, ge=0)
    """Share of the warps that were resident, on average."""
    occupancy_limit: float | None = Field(None, ge=0)
    """Share that could be, by the kernel's resources."""
    limited_by: tuple[Limit, ...] = ()
    """What would not let another block in."""
    waves: float | None = Field(None, ge=0)
    """Blocks of the grid over what is resident at once."""
    load_sectors: float | None = Field(None, ge=0)
    """32-byte sectors per request of a warp's global load."""
    store_sectors: float | None = Field(None, ge=0)
    load_use: float | None = Field(None, ge=0)
    """Share of the bytes of those sectors that threads asked for; 1 is coalesced."""
    store_use: float | None = Field(None, ge=0)
    bank_conflicts: float | None = Field(None, ge=0)
    """Share of shared-memory wavefronts that only conflicts needed."""
    tensor: float | None = Field(None, ge=0)
    """Share of cycles in which the tensor cores worked."""
    special: float | None = Field(None, ge=0)
    """Share of the special-function unit's throughput."""
    stalls: tuple[Stall, ...] = Field((), max_length=32)
    """Largest first."""
    findings: tuple[ShortText, ...] = Field((), max_length=8)
    """What the counters mean, one sentence each, only where it is sure."""


class Inspection(Model):
    """The result of one inspection."""

    tool: ShortText
    """With its version."""
    cases: tuple[Name, ...] = Field(max_length=64)
    """That were looked at."""
    left_out: tuple[Name, ...] = Field((), max_length=64)
    """That were due, but did not fit the time."""
    errors: tuple[AccessError, ...] = Field((), max_length=MOST_FINDINGS)
    races: tuple[Race, ...] = Field((), max_length=MOST_FINDINGS)
    profiles: tuple[KernelProfile, ...] = Field((), max_length=MOST_FINDINGS)
    total: Count = 0
    """Errors, races or launches that the tool counted, with those that are not kept."""
    notes: tuple[ShortText, ...] = Field((), max_length=16)
    """What a reader must know of it, such as what the tool cannot see."""
    seconds: float = Field(ge=0)
    worker: ShortText = ""
