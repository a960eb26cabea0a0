"""P10: device_print from every thread. Must be: checked or rejected."""

import triton
import triton.language as tl

# + honest softmax

honest = solve  # noqa: F821


@triton.jit
def talkative(y):
    tl.device_print("value", tl.program_id(0))


def solve(x):
    y = honest(x)
    talkative[(256,)](y)
    return y
