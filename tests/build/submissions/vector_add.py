"""Several sizes by a grid that asks the configuration."""

import torch
import triton
import triton.language as tl

DEVICE = triton.runtime.driver.active.get_active_torch_device()


@triton.jit
def add(x_ptr, y_ptr, sum_ptr, count, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = offsets < count
    x = tl.load(x_ptr + offsets, mask=inside)
    y = tl.load(y_ptr + offsets, mask=inside)
    tl.store(sum_ptr + offsets, x + y, mask=inside)


def solve(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    result = torch.empty_like(x)
    assert {x.device, y.device, result.device} == {DEVICE}
    count = result.numel()
    add[lambda meta: (triton.cdiv(count, meta["BLOCK"]),)](x, y, result, count, BLOCK=256)
    return result
