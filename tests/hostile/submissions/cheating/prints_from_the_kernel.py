"""P10: prints with a format that writes to our memory. Must be: rejected."""

import triton
import triton.language as tl

# + honest softmax

honest = solve  # noqa: F821


@triton.jit
def talkative(y):
    tl.device_print("%n", y.to(tl.int64))


def solve(x):
    y = honest(x)
    talkative[(256,)](y)
    return y
