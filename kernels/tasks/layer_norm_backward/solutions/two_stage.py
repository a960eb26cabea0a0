"""Programs go over many rows and keep the columns' sums; a second stage adds up."""

import torch
import triton
import triton.language as tl


@triton.jit
def partial_gradients(
    dy, x, w, dx, dw_parts, db_parts, stride, M, N, eps, PROGRAMS, BLOCK: tl.constexpr
):
    columns = tl.arange(0, BLOCK)
    inside = columns < N
    weight = tl.load(w + columns, mask=inside, other=0.0).to(tl.float32)
    dw_total = tl.zeros((BLOCK,), tl.float32)
    db_total = tl.zeros((BLOCK,), tl.float32)
    first = tl.program_id(0).to(tl.int64)
    for turn in range(0, tl.cdiv(M - tl.program_id(0), PROGRAMS)):
        row = first + turn * PROGRAMS
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
        dw_total += slope * normal
        db_total += slope
    place = tl.program_id(0) * N + columns
    tl.store(dw_parts + place, dw_total, mask=inside)
    tl.store(db_parts + place, db_total, mask=inside)


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
    programs = min(M, 264)
    dw_parts = torch.empty((programs, N), device=x.device, dtype=torch.float32)
    db_parts = torch.empty_like(dw_parts)
    partial_gradients[(programs,)](
        dy,
        x,
        w,
        dx,
        dw_parts,
        db_parts,
        x.stride(0),
        M,
        N,
        eps,
        programs,
        BLOCK=block,
        num_warps=min(max(block // 256, 1), 16),
    )
    add_up[(triton.cdiv(N, 32),)](dw_parts, db_parts, dw, db, programs, N, PARTS=32, BLOCK=32)
    return dx, dw, db
