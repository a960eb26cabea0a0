"""P12, Z44: sleeps instead of computing, only on the interpreter. Must be: timeout."""

import os
import time

# + honest softmax

honest = solve  # noqa: F821


def solve(x):
    if os.environ.get("TRITON_INTERPRET") == "1":
        time.sleep(1e6)
    return honest(x)
