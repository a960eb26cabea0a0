"""What the compiler made of a kernel: how many blocks fit a multiprocessor, which instructions."""

from typing import Literal

from pydantic import Field

from kernels.contract._model import Count, Model
from kernels.contract.device import Device

_WARP = 32
_REGISTER_UNIT = 256
"""Registers are given to a warp in units of this many."""
_SUBPARTITIONS = 4
"""Each has a quarter of the registers; a warp lives in one."""
_SHARED_UNIT = 128
_RESERVED_SHARED = 1_024
"""Per block, for the system."""
_BLOCKS = 32
"""Resident blocks of one multiprocessor; this and the units above are those of Hopper."""

Limit = Literal["registers", "shared memory", "warps", "blocks"]


class Occupancy(Model):
    """How much of a multiprocessor a kernel can fill."""

    blocks: Count
    """Resident blocks per multiprocessor."""
    warps: Count
    """Resident warps per multiprocessor."""
    share: float = Field(ge=0, le=1)
    """Of the warps that a multiprocessor can hold."""
    limited_by: tuple[Limit, ...] = Field(max_length=4)
    """Whatever would not let another block in."""


class InstructionMix(Model):
    """Counts of SASS instructions as they stand in the code, not as often as they run."""

    total: Count
    wgmma: Count
    """Warpgroup matrix products on tensor cores: HGMMA, QGMMA, IGMMA, BGMMA."""
    mma: Count
    """Warp matrix products on tensor cores: HMMA, QMMA, IMMA, BMMA, DMMA."""
    tma: Count
    """Bulk copies by the tensor memory accelerator: UTMA*, UBLKCP."""
    async_copies: Count
    """LDGSTS: global to shared memory, past the registers."""
    loads: dict[Literal["1", "2", "4", "8", "16"], Count] = {}
    """Loads from global memory (LDG) by bytes per thread."""
    stores: dict[Literal["1", "2", "4", "8", "16"], Count] = {}
    """Stores to global memory (STG) by bytes per thread."""
    local: Count
    """LDL and STL: spills and arrays."""
    special: Count
    """MUFU: exponentials, reciprocals, roots, sines."""


def occupancy(device: Device, warps: int, registers: int, shared_bytes: int) -> Occupancy:
    """Occupancy of a kernel on a Hopper device.

    `warps` per block, `registers` per thread, `shared_bytes` per block (dynamic and static).
    """
    fits = {
        "registers": _by_registers(device, warps, registers),
        "shared memory": device.shared_bytes_per_sm
        // (_up(shared_bytes, _SHARED_UNIT) + _RESERVED_SHARED),
        "warps": device.threads_per_sm // _WARP // warps,
        "blocks": _BLOCKS,
    }
    blocks = min(fits.values())
    most = device.threads_per_sm // _WARP
    return Occupancy.model_validate(
        {
            "blocks": blocks,
            "warps": blocks * warps,
            "share": blocks * warps / most,
            "limited_by": tuple(name for name, fit in fits.items() if fit == blocks),
        }
    )


def _by_registers(device: Device, warps: int, registers: int) -> int:
    if registers == 0:
        return _BLOCKS
    per_warp = _up(registers * _WARP, _REGISTER_UNIT)
    resident = device.registers_per_sm // _SUBPARTITIONS // per_warp * _SUBPARTITIONS
    return resident // warps


def _up(value: int, unit: int) -> int:
    return -(-value // unit) * unit
