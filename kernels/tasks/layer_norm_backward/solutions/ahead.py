"""Programs go over many rows and load the next ones while they compute.

- `tl.range` with stages keeps rows under way in shared memory, where a plain loop waits for each.
- Short rows are taken several at a time: their four sums each need one exchange between warps.
- A second stage adds up the columns' sums.
"""

import torch
import triton
import triton.language as tl

MULTIPROCESSORS = 132


@triton.jit
def partial_gradients(
    dy, x, w, dx, dw_parts, db_parts, stride, M, N, eps, ROWS: tl.constexpr, BLOCK: tl.constexpr
):
    columns = tl.arange(0, BLOCK)[None, :]
    inside = columns < N
    weight = tl.load(w + columns, mask=inside, other=0.0).to(tl.float32)
    dw_total = tl.zeros((ROWS, BLOCK), tl.float32)
    db_total = tl.zeros((ROWS, BLOCK), tl.float32)
    step = tl.num_programs(0) * ROWS
    for start in tl.range(tl.program_id(0) * ROWS, M, step, num_stages=3):
        rows = (start + tl.arange(0, ROWS))[:, None]
        there = (rows < M) & inside
        rows = rows.to(tl.int64)
        value = tl.load(x + rows * stride + columns, mask=there, other=0.0).to(tl.float32)
        slope = tl.load(dy + rows * N + columns, mask=there, other=0.0).to(tl.float32)
        mean = tl.sum(value, axis=1, keep_dims=True) / N
        apart = tl.where(inside, value - mean, 0.0)
        scale = tl.rsqrt(tl.sum(apart * apart, axis=1, keep_dims=True) / N + eps)
        normal = apart * scale
        weighted = slope * weight
        along = tl.sum(normal * weighted, axis=1, keep_dims=True) / N
        level = tl.sum(weighted, axis=1, keep_dims=True) / N
        gradient = (weighted - normal * along - level) * scale
        tl.store(dx + rows * N + columns, gradient.to(dx.dtype.element_ty), mask=there)
        dw_total += slope * normal
        db_total += slope
    place = tl.program_id(0) * N + tl.arange(0, BLOCK)
    known = tl.arange(0, BLOCK) < N
    tl.store(dw_parts + place, tl.sum(dw_total, axis=0), mask=known)
    tl.store(db_parts + place, tl.sum(db_total, axis=0), mask=known)


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
    block = max(triton.next_power_of_2(N), 128)
    rows = max(1, 2048 // block)
    # As many warps for each multiprocessor, whatever a row needs.
    warps = min(max(rows * block // 512, 1), 16)
    programs = min(triton.cdiv(M, rows), MULTIPROCESSORS * 16 // warps)
    dw_parts = torch.empty((programs, N), device=x.device, dtype=torch.float32)
    db_parts = torch.empty_like(dw_parts)
    parts = (dw_parts, db_parts)
    partial_gradients[(programs,)](
        dy, x, w, dx, *parts, x.stride(0), M, N, eps, ROWS=rows, BLOCK=block, num_warps=warps
    )
    add_up[(triton.cdiv(N, 8),)](*parts, dw, db, programs, N, PARTS=128, BLOCK=8)
    return dx, dw, db
