"""P11: its machine code has a variable that outlives a launch. Must be: rejected or build_error."""

import torch
import triton
import triton.language as tl
from triton.backends.nvidia.compiler import CUDABackend

_assemble = CUDABackend.make_cubin


def make_cubin(self, ptx, *rest):
    variable = ".visible .global .align 4 .u32 runs;\n.visible .entry"
    return _assemble(self, ptx.replace(".visible .entry", variable, 1), *rest)


CUDABackend.make_cubin = make_cubin


@triton.jit
def double(x, y, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + i, tl.load(x + i, mask=i < n) * 2, mask=i < n)


def solve(x):
    y = torch.empty_like(x)
    double[(triton.cdiv(x.numel(), 128),)](x, y, x.numel(), BLOCK=128)
    return y
