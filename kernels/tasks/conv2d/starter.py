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
            inside = (rows[:, None] + u < H) & (columns[None, :] + v < W)
            place = x + (rows[:, None] + u) * stride_h + columns[None, :] + v
            value = tl.load(place, mask=inside, other=0.0).to(tl.float32)
            # Every pixel counts alike so far: the window's weights are missing.
            total += value
    inside = (rows[:, None] < H) & (columns[None, :] < W)
    place = y + (image * H + rows[:, None]) * W + columns[None, :]
    tl.store(place, total.to(y.dtype.element_ty), mask=inside)


def solve(x: torch.Tensor, k: torch.Tensor) -> torch.Tensor:
    B, H, W = x.shape
    y = torch.empty((B, H, W), device=x.device, dtype=x.dtype)
    grid = (triton.cdiv(W, 32), triton.cdiv(H, 16), B)
    conv2d[grid](x, k, y, H, W, *x.stride()[:2], KH=k.shape[0], KW=k.shape[1], BH=16, BW=32)
    return y
