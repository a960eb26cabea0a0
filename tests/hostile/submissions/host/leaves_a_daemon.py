"""Z54: leaves a detached process that holds standard output and stays. Must be: checked."""

import os
import signal
import time

# + honest softmax

if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        time.sleep(1000)
    os._exit(0)
os.wait()
