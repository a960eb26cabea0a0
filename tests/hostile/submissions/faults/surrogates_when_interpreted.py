"""Z11, Z125: the same once it is interpreted. Must be: runtime_error."""

import os

# + honest softmax

if os.environ.get("TRITON_INTERPRET") == "1":
    raise ValueError("\ud800\0" * 100_000)
