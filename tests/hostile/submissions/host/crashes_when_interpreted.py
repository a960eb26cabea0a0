"""Z123: the same once it is interpreted. Must be: memory_violation."""

import ctypes
import os

# + honest softmax

if os.environ.get("TRITON_INTERPRET") == "1":
    ctypes.string_at(0)
