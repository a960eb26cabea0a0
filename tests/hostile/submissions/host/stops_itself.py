"""P12, Z45: stops its own process, and its parent if it can. Must be: timeout."""

import os
import signal

for pid in (os.getppid(), 1, 0):
    try:
        os.kill(pid, signal.SIGSTOP)
    except OSError as error:
        print(pid, error)
