"""torch.cuda, torch.accelerator and their private doors, answering for a GPU that is not there."""

from collections.abc import Callable
from typing import Any

import torch

from kernels.contract import Device
from workers.facade import streams
from workers.facade.hooks import Hooks
from workers.facade.placement import check_index
from workers.facade.properties import capability, torch_properties

CUDA_VERSION = "12.8"
_CUDNN_VERSION = 92_000
_NO_PLANS = {"size": 0, "max_size": 4_096}
"""Of cuFFT."""


def install(device: Device, hooks: Hooks) -> None:
    """Replace everything in torch that would look for a driver."""
    graph = type("CUDAGraph", (streams.Graph,), {"hooks": hooks})
    event = type("Event", (streams.Event,), {"hooks": hooks})
    stream = streams.Stream()
    _replace(torch.cuda, {name: _constant(value) for name, value in _facts(device, stream).items()})
    _replace(torch.cuda, _classes(graph, event))
    _replace(torch.cuda.memory, {"mem_get_info": torch.cuda.mem_get_info})
    _replace(torch.cuda.graphs, {"CUDAGraph": graph, "graph": streams.GraphCapture})
    _replace(torch.cuda.streams, {"Stream": streams.Stream, "Event": event})
    _replace(torch.cuda.nvtx, {name: _context for name in ("range", "range_push", "mark")})
    _replace(torch.cuda.nvtx, {"range_pop": _constant(None)})
    _replace(torch.accelerator, _accelerator(device, stream))
    _replace(torch, {"Stream": streams.Stream, "Event": event})
    _replace(torch.version, {"cuda": CUDA_VERSION})
    _replace(torch.backends.cuda, {"is_built": _constant(True)})
    _replace(torch.backends.cuda.cuFFTPlanCache, {**_NO_PLANS, "clear": _constant(None)})
    _replace(torch.backends.cudnn, {"is_available": _constant(True)})
    _replace(torch.backends.cudnn, {"version": _constant(_CUDNN_VERSION)})
    _replace(torch._C, {name: _constant(value) for name, value in _PRIVATE.items()})


_PRIVATE: dict[str, Any] = {
    "_cuda_getCurrentRawStream": 0,
    "_cuda_getDeviceCount": 1,
    "_cuda_getDevice": 0,
    "_cuda_setDevice": None,
    "_cuda_setStream": None,
    "_cuda_isInBadFork": False,
    "_cuda_clearCublasWorkspaces": None,
}


def _facts(device: Device, stream: streams.Stream) -> dict[str, Any]:
    properties = torch_properties(device)
    nothing = (
        "synchronize init _lazy_init empty_cache ipc_collect manual_seed manual_seed_all seed"
        " seed_all set_stream reset_peak_memory_stats reset_max_memory_allocated"
        " reset_accumulated_memory_stats set_per_process_memory_fraction set_sync_debug_mode"
        " set_rng_state set_rng_state_all"
    )
    zero = (
        "current_device memory_allocated max_memory_allocated memory_reserved max_memory_reserved"
        " memory_cached max_memory_cached utilization memory_usage initial_seed get_sync_debug_mode"
    )
    return {
        **dict.fromkeys(nothing.split()),
        **dict.fromkeys(zero.split(), 0),
        "is_available": True,
        "is_initialized": True,
        "is_bf16_supported": True,
        "is_tf32_supported": True,
        "is_current_stream_capturing": False,
        "device_count": 1,
        "get_device_properties": properties,
        "get_device_capability": capability(device),
        "get_device_name": device.full_name,
        "get_arch_list": ["sm_90"],
        "can_device_access_peer": False,
        "clock_rate": round(device.boost_clock / 1e6),
        "mem_get_info": (device.memory_bytes, device.memory_bytes),
        "memory_stats": {},
        "memory_summary": "",
        "graph_pool_handle": (0, 0),
        "current_stream": stream,
        "default_stream": stream,
        "get_rng_state": torch.zeros(16, dtype=torch.uint8),
        "get_rng_state_all": [torch.zeros(16, dtype=torch.uint8)],
    }


def _classes(graph: type, event: type) -> dict[str, Any]:
    return {
        "device": streams.Context,
        "device_of": streams.Context,
        "_DeviceGuard": streams.Context,
        "StreamContext": streams.Context,
        "stream": _context,
        "set_device": _set_device,
        "Stream": streams.Stream,
        "ExternalStream": streams.Stream,
        "Event": event,
        "CUDAGraph": graph,
        "graph": streams.GraphCapture,
        "make_graphed_callables": lambda callables, *_, **__: callables,
        "default_generators": (torch.default_generator,),
    }


def _accelerator(device: Device, stream: streams.Stream) -> dict[str, Callable[..., Any]]:
    index = _constant(0)
    return {
        "is_available": _constant(True),
        "device_count": _constant(1),
        "current_accelerator": _constant(torch.device("cuda")),
        "current_device_index": index,
        "current_device_idx": index,
        "set_device_index": _set_device,
        "set_device_idx": _set_device,
        "current_stream": _constant(stream),
        "set_stream": _constant(None),
        "synchronize": _constant(None),
        "get_device_capability": _constant(capability(device)),
    }


def _set_device(device: Any) -> None:
    check_index(device if isinstance(device, int) else torch.device(device).index)


def _context(*_: Any, **__: Any) -> streams.Context:
    return streams.Context()


def _constant(value: Any) -> Callable[..., Any]:
    return lambda *_, **__: value


def _replace(owner: Any, replacements: dict[str, Any]) -> None:
    for name, replacement in replacements.items():
        setattr(owner, name, replacement)
