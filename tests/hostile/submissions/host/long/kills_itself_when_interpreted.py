"""Z101: the same once it is interpreted.

Must be: memory_violation, build_error, rejected or runtime_error."""

import os

# + honest softmax

if os.environ.get("TRITON_INTERPRET") == "1":
    os.kill(os.getpid(), 9)
