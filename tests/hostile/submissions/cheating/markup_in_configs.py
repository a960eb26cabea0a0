"""Z37: markup and half characters in what becomes notes and names of configurations.

Must be: checked, rejected or build_error."""

import triton
import triton.language as tl

# + honest softmax

honest = solve  # noqa: F821


@triton.autotune(
    [
        triton.Config({"WORD": "<script>alert(1)</script>\ud800"}),
        triton.Config({"WORD": "b" * 9000}),
    ],
    key=["n"],
)
@triton.jit
def tuned(y, n, WORD: tl.constexpr):
    pass


def solve(x):
    y = honest(x)
    tuned[(1,)](y, x.shape[1])
    return y
