"""P12, Z122: ten thousand configurations to compile. Must be: checked, timeout or rejected."""

import triton
import triton.language as tl

# + honest softmax

honest = solve  # noqa: F821
configs = [triton.Config({"SIZE": 1, "N": n}, num_warps=1 << n % 4) for n in range(10_000)]


@triton.autotune(configs, key=["columns"])
@triton.jit
def tuned(y, columns, SIZE: tl.constexpr, N: tl.constexpr):
    tl.device_assert(columns + N > 0)


def solve(x):
    y = honest(x)
    tuned[(1,)](y, x.shape[1])
    return y
