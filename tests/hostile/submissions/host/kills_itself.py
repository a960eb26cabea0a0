"""Z101: dies as one does that was out of memory. Must be: build_error."""

import os

os.kill(os.getpid(), 9)
