"""P12, Z122: builds in time, then loops for ever on the interpreter. Must be: timeout."""

import os

# + honest softmax

if os.environ.get("TRITON_INTERPRET") == "1":
    while True:
        pass
