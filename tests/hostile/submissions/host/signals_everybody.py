"""Z87, 119: signals to all that it can name. Must be: build_error or timeout."""

import os
import signal

for pid in (1, os.getppid(), *range(2, 400)):
    if pid != os.getpid():
        for number in (signal.SIGCONT, signal.SIGSTOP, signal.SIGKILL):
            try:
                os.kill(pid, number)
                print("hit", pid)
            except OSError:
                pass
os.kill(-1, signal.SIGKILL)
raise RuntimeError("still here")
