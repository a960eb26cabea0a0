"""A persistent softmax whose grid follows from the registers of the compiled kernel."""

import torch
import triton
import triton.language as tl
from triton.runtime import driver

FACTS = driver.active.utils.get_device_properties(torch.cuda.current_device())


@triton.jit
def softmax(out_ptr, in_ptr, in_step, out_step, rows, columns, BLOCK: tl.constexpr,
            STAGES: tl.constexpr):  # fmt: skip
    for row in tl.range(tl.program_id(0), rows, tl.num_programs(0), num_stages=STAGES):
        offsets = tl.arange(0, BLOCK)
        inside = offsets < columns
        values = tl.load(in_ptr + row * in_step + offsets, mask=inside, other=-float("inf"))
        powers = tl.exp(values - tl.max(values, axis=0))
        tl.store(out_ptr + row * out_step + offsets, powers / tl.sum(powers, axis=0), mask=inside)


def solve(x):
    rows, columns = x.shape
    block = triton.next_power_of_2(columns)
    stages = 4 if FACTS["max_shared_mem"] > 200_000 else 2
    y = torch.empty_like(x)
    kernel = softmax.warmup(
        y, x, x.stride(0), y.stride(0), rows, columns,
        BLOCK=block, STAGES=stages, num_warps=8, grid=(1,),
    )  # fmt: skip
    kernel._init_handles()
    occupancy = FACTS["max_num_regs"] // (kernel.n_regs * FACTS["warpSize"] * 8)
    if kernel.metadata.shared:
        occupancy = min(occupancy, FACTS["max_shared_mem"] // kernel.metadata.shared)
    programs = min(FACTS["multiprocessor_count"] * occupancy, rows)
    kernel[(programs, 1, 1)](y, x, x.stride(0), y.stride(0), rows, columns, block, stages)
    return y
