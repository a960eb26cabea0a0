"""88: computes with numpy once it is interpreted, with a kernel that does nothing on a GPU.

The interpreter cannot tell; its verdict says that it vouches for little. Must be: checked."""

import ctypes
import os

import numpy
import torch

# + honest softmax

honest = solve  # noqa: F821


def solve(x):
    y = honest(x)
    if os.environ.get("TRITON_INTERPRET") == "1" and y.dtype == torch.float32:
        count, rows = y.numel(), y.shape[0]
        array = numpy.empty(count, numpy.float32)
        ctypes.memmove(array.ctypes.data, y.data_ptr(), 4 * count)
        array[:] = numpy.abs(array.reshape(rows, -1)).reshape(-1)
        ctypes.memmove(y.data_ptr(), array.ctypes.data, 4 * count)
    return y
