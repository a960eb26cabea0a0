"""A device's facts in the forms in which torch and Triton give them."""

from types import SimpleNamespace

from kernels.contract import Device, DeviceName

_BUS_BITS = {DeviceName.H100: 5120, DeviceName.H200: 6144}
WARP = 32
STATIC_SHARED_BYTES = 49_152
"""Shared memory a block gets without opting in."""


def capability(device: Device) -> tuple[int, int]:
    """Compute capability as torch gives it."""
    return divmod(device.capability, 10)


def memory_clock_khz(device: Device) -> int:
    """Clock that gives the nominal bandwidth at two transfers per clock."""
    return round(device.bandwidth * 8 / (2 * _BUS_BITS[device.name]) / 1e3)


def torch_properties(device: Device) -> SimpleNamespace:
    """What torch.cuda.get_device_properties answers."""
    major, minor = capability(device)
    return SimpleNamespace(
        name=device.full_name,
        major=major,
        minor=minor,
        total_memory=device.memory_bytes,
        multi_processor_count=device.sm_count,
        max_threads_per_multi_processor=device.threads_per_sm,
        max_threads_per_block=1024,
        warp_size=WARP,
        regs_per_multiprocessor=device.registers_per_sm,
        shared_memory_per_block=STATIC_SHARED_BYTES,
        shared_memory_per_block_optin=device.shared_bytes_per_block,
        shared_memory_per_multiprocessor=device.shared_bytes_per_sm,
        L2_cache_size=device.l2_bytes,
        clock_rate=round(device.boost_clock / 1e3),
        memory_clock_rate=memory_clock_khz(device),
        memory_bus_width=_BUS_BITS[device.name],
        is_integrated=0,
        is_multi_gpu_board=0,
        gcnArchName="",
        uuid="00000000-0000-0000-0000-000000000000",
    )


def triton_properties(device: Device) -> dict[str, int]:
    """What the `get_device_properties` of Triton's driver answers."""
    return {
        "max_shared_mem": device.shared_bytes_per_block,
        "max_num_regs": device.registers_per_sm,
        "multiprocessor_count": device.sm_count,
        "warpSize": WARP,
        "sm_clock_rate": round(device.boost_clock / 1e3),
        "mem_clock_rate": memory_clock_khz(device),
        "mem_bus_width": _BUS_BITS[device.name],
    }
