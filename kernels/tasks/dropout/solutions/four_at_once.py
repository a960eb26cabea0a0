"""Four random numbers from each run of the generator, in seven rounds.

Ten rounds take longer than memory does in two bytes an element. Seven are the fewest of Philox-4x32
that pass TestU01's BigCrush (Salmon et al., Parallel random numbers: as easy as 1, 2, 3, 2011).
"""

import torch
import triton
import triton.language as tl


@triton.jit
def dropout(x, y, p, scale, seed, N, QUARTER: tl.constexpr):
    lane = tl.program_id(0) * QUARTER + tl.arange(0, QUARTER)
    # One call makes four random numbers, for four neighbours.
    a, b, c, d = tl.rand4x(seed, lane, n_rounds=7)
    random = tl.join(tl.join(a, c), tl.join(b, d)).reshape(4 * QUARTER)
    at = tl.program_id(0) * (4 * QUARTER) + tl.arange(0, 4 * QUARTER)
    inside = at < N
    value = tl.load(x + at, mask=inside, other=0.0).to(tl.float32)
    result = tl.where(random >= p, value * scale, 0.0)
    tl.store(y + at, result.to(y.dtype.element_ty), mask=inside)


def solve(x: torch.Tensor, p: float, seed: int) -> torch.Tensor:
    y = torch.empty_like(x)
    scale = 1.0 / (1.0 - p) if p < 1 else 0.0
    dropout[(triton.cdiv(x.numel(), 2048),)](x, y, p, scale, seed, x.numel(), QUARTER=512)
    return y
