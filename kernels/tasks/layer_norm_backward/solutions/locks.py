"""A program for each row, which adds its part to one of a few buffers that have locks."""

import torch
import triton
import triton.language as tl


@triton.jit
def locked_gradients(
    dy,
    x,
    w,
    dx,
    dw_parts,
    db_parts,
    locks,
    used,
    stride,
    N,
    eps,
    GROUPS: tl.constexpr,
    BLOCK: tl.constexpr,
):
    row = tl.program_id(0).to(tl.int64)
    columns = tl.arange(0, BLOCK)
    inside = columns < N
    weight = tl.load(w + columns, mask=inside, other=0.0).to(tl.float32)
    value = tl.load(x + row * stride + columns, mask=inside, other=0.0).to(tl.float32)
    slope = tl.load(dy + row * N + columns, mask=inside, other=0.0).to(tl.float32)
    mean = tl.sum(value, axis=0) / N
    apart = tl.where(inside, value - mean, 0.0)
    scale = tl.rsqrt(tl.sum(apart * apart, axis=0) / N + eps)
    normal = apart * scale
    weighted = slope * weight
    along = tl.sum(normal * weighted, axis=0) / N
    level = tl.sum(weighted, axis=0) / N
    gradient = (weighted - normal * along - level) * scale
    tl.store(dx + row * N + columns, gradient.to(dx.dtype.element_ty), mask=inside)
    group = tl.program_id(0) % GROUPS
    dw_part, db_part = slope * normal, slope
    place = group * N + columns
    while tl.atomic_cas(locks + group, 0, 1) == 1:
        pass
    if tl.load(used + group) == 0:
        tl.atomic_xchg(used + group, 1)
    else:
        dw_part += tl.load(dw_parts + place, mask=inside, other=0.0)
        db_part += tl.load(db_parts + place, mask=inside, other=0.0)
    tl.store(dw_parts + place, dw_part, mask=inside)
    tl.store(db_parts + place, db_part, mask=inside)
    # All threads must have stored before the lock is opened.
    tl.debug_barrier()
    tl.atomic_xchg(locks + group, 0)


@triton.jit
def add_up(dw_parts, db_parts, dw, db, count, N, PARTS: tl.constexpr, BLOCK: tl.constexpr):
    columns = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    dw_total = tl.zeros((PARTS, BLOCK), tl.float32)
    db_total = tl.zeros((PARTS, BLOCK), tl.float32)
    for start in range(0, count, PARTS):
        rows = start + tl.arange(0, PARTS)
        inside = (rows[:, None] < count) & (columns[None, :] < N)
        place = rows[:, None] * N + columns[None, :]
        dw_total += tl.load(dw_parts + place, mask=inside, other=0.0)
        db_total += tl.load(db_parts + place, mask=inside, other=0.0)
    dw_sum, db_sum = tl.sum(dw_total, axis=0), tl.sum(db_total, axis=0)
    tl.store(dw + columns, dw_sum.to(dw.dtype.element_ty), mask=columns < N)
    tl.store(db + columns, db_sum.to(db.dtype.element_ty), mask=columns < N)


def solve(
    dy: torch.Tensor, x: torch.Tensor, w: torch.Tensor, eps: float
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    M, N = x.shape
    dx = torch.empty((M, N), device=x.device, dtype=x.dtype)
    dw, db = torch.empty_like(w), torch.empty_like(w)
    block = triton.next_power_of_2(N)
    groups = 128
    dw_parts = torch.zeros((groups, N), device=x.device, dtype=torch.float32)
    db_parts = torch.zeros_like(dw_parts)
    locks = torch.zeros(groups, device=x.device, dtype=torch.int32)
    used = torch.zeros_like(locks)
    locked_gradients[(M,)](
        dy,
        x,
        w,
        dx,
        dw_parts,
        db_parts,
        locks,
        used,
        x.stride(0),
        N,
        eps,
        GROUPS=groups,
        BLOCK=block,
        num_warps=min(max(block // 512, 1), 16),
    )
    add_up[(triton.cdiv(N, 32),)](dw_parts, db_parts, dw, db, groups, N, PARTS=32, BLOCK=32)
    return dx, dw, db
