# Lets the window run on into the next row instead of into zeros.
import torch
import triton
import triton.language as tl


@triton.jit
def conv2d(
    x,
    k,
    y,
    H,
    W,
    stride_b,
    stride_h,
    KH: tl.constexpr,
    KW: tl.constexpr,
    BH: tl.constexpr,
    BW: tl.constexpr,
):
    image = tl.program_id(2).to(tl.int64)
    rows = tl.program_id(1) * BH + tl.arange(0, BH)
    columns = tl.program_id(0) * BW + tl.arange(0, BW)
    x += image * stride_b
    total = tl.zeros((BH, BW), tl.float32)
    for u in range(KH):
        for v in range(KW):
            inside = (rows[:, None] + u < H) & (columns[None, :] < W)
            inside = inside & ((rows[:, None] + u) * W + columns[None, :] + v < H * W)
            place = x + (rows[:, None] + u) * stride_h + columns[None, :] + v
            value = tl.load(place, mask=inside, other=0.0).to(tl.float32)
            total += value * tl.load(k + u * KW + v).to(tl.float32)
    inside = (rows[:, None] < H) & (columns[None, :] < W)
    place = y + (image * H + rows[:, None]) * W + columns[None, :]
    tl.store(place, total.to(y.dtype.element_ty), mask=inside)


def solve(x: torch.Tensor, k: torch.Tensor) -> torch.Tensor:
    B, H, W = x.shape
    y = torch.empty((B, H, W), device=x.device, dtype=x.dtype)
    grid = (triton.cdiv(W, 128), triton.cdiv(H, 8), B)
    conv2d[grid](x, k, y, H, W, *x.stride()[:2], KH=k.shape[0], KW=k.shape[1], BH=8, BW=128)
    return y
