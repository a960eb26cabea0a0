"""Z59: takes memory in many processes, each below its limit. Must be: rejected, build_error or timeout."""

import os
import time

for _ in range(12):
    if os.fork() == 0:
        break
kept = [b"\1" * (1 << 30)]
time.sleep(1000)
