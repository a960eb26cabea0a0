"""Gradient of a layer norm: an autograd function, partial sums under locks, two kernels back."""

import torch
import triton
import triton.language as tl


@triton.jit
def forward_kernel(x_ptr, y_ptr, w_ptr, mean_ptr, scale_ptr, N, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    offsets = tl.arange(0, BLOCK)
    inside = offsets < N
    x = tl.load(x_ptr + row * N + offsets, mask=inside, other=0.0).to(tl.float32)
    mean = tl.sum(x, axis=0) / N
    centred = tl.where(inside, x - mean, 0.0)
    scale = 1 / tl.sqrt(tl.sum(centred * centred, axis=0) / N + 1e-5)
    tl.store(mean_ptr + row, mean)
    tl.store(scale_ptr + row, scale)
    w = tl.load(w_ptr + offsets, mask=inside)
    tl.store(y_ptr + row * N + offsets, centred * scale * w, mask=inside)


@triton.jit
def partial_kernel(dy_ptr, x_ptr, mean_ptr, scale_ptr, part_ptr, lock_ptr, N,
                   GROUPS: tl.constexpr, BLOCK: tl.constexpr):  # fmt: skip
    row = tl.program_id(0)
    offsets = tl.arange(0, BLOCK)
    inside = offsets < N
    dy = tl.load(dy_ptr + row * N + offsets, mask=inside, other=0.0).to(tl.float32)
    x = tl.load(x_ptr + row * N + offsets, mask=inside, other=0.0).to(tl.float32)
    part = dy * (x - tl.load(mean_ptr + row)) * tl.load(scale_ptr + row)
    group = row % GROUPS
    lock = lock_ptr + group
    count = lock_ptr + GROUPS + group
    while tl.atomic_cas(lock, 0, 1) == 1:
        pass
    if tl.load(count) == 0:
        tl.atomic_xchg(count, 1)
    else:
        part += tl.load(part_ptr + group * N + offsets, mask=inside)
    tl.store(part_ptr + group * N + offsets, part, mask=inside)
    tl.debug_barrier()
    tl.atomic_xchg(lock, 0)


@triton.jit
def sum_kernel(part_ptr, dw_ptr, N, GROUPS: tl.constexpr, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    rows = tl.arange(0, GROUPS)
    inside = (rows[:, None] < GROUPS) & (offsets[None, :] < N)
    parts = tl.load(part_ptr + rows[:, None] * N + offsets[None, :], mask=inside, other=0.0)
    tl.store(dw_ptr + offsets, tl.sum(parts, axis=0), mask=offsets < N)


class LayerNorm(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, w):
        M, N = x.reshape(-1, x.shape[-1]).shape
        y = torch.empty_like(x)
        mean = torch.empty((M,), dtype=torch.float32, device=x.device)
        scale = torch.empty((M,), dtype=torch.float32, device=x.device)
        ctx.block = triton.next_power_of_2(N)
        forward_kernel[(M,)](x, y, w, mean, scale, N, BLOCK=ctx.block, num_ctas=1)
        ctx.save_for_backward(x, w, mean, scale)
        return y

    @staticmethod
    def backward(ctx, dy):
        x, w, mean, scale = ctx.saved_tensors
        M, N = x.shape
        locks = torch.zeros(2 * 4, dtype=torch.int32, device=w.device)
        parts = torch.zeros((4, N), dtype=torch.float32, device=w.device)
        dw = torch.empty((N,), dtype=w.dtype, device=w.device)
        partial_kernel[(M,)](dy, x, mean, scale, parts, locks, N, GROUPS=4, BLOCK=ctx.block)
        sum_kernel[(1,)](parts, dw, N, GROUPS=4, BLOCK=ctx.block)
        return None, dw


def solve(x, w, dy):
    w = w.detach().requires_grad_(True)
    y = LayerNorm.apply(x, w)
    (dw,) = torch.autograd.grad(y, w, dy)
    return y.detach(), dw
