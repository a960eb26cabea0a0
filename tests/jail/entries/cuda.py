"""Entry functions that use a GPU through the driver alone."""

import ctypes
import json
from collections.abc import Callable

_GIB = 1 << 30


def cuda_memory(argument: bytes) -> bytes:
    """Fill and read back a GiB of device memory and 64 MiB of pinned host memory."""
    cuda = ctypes.CDLL("libcuda.so.1")
    device, context = ctypes.c_int(), ctypes.c_void_p()
    memory, pinned = ctypes.c_void_p(), ctypes.c_void_p()
    back = ctypes.create_string_buffer(4)
    steps: dict[str, Callable[[], int]] = {
        "init": lambda: cuda.cuInit(0),
        "device": lambda: cuda.cuDeviceGet(ctypes.byref(device), 0),
        "context": lambda: cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), device),
        "current": lambda: cuda.cuCtxSetCurrent(context),
        "allocate": lambda: cuda.cuMemAlloc_v2(ctypes.byref(memory), ctypes.c_size_t(_GIB)),
        "fill": lambda: cuda.cuMemsetD8_v2(memory, ctypes.c_ubyte(7), ctypes.c_size_t(_GIB)),
        "read": lambda: cuda.cuMemcpyDtoH_v2(back, memory, ctypes.c_size_t(4)),
        "pin": lambda: cuda.cuMemHostAlloc(ctypes.byref(pinned), ctypes.c_size_t(_GIB // 16), 0),
    }
    codes = {}
    for name, step in steps.items():
        codes[name] = step()
        if codes[name] != 0:
            break
    return json.dumps([codes, list(back.raw)]).encode()
