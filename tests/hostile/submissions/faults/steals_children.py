"""Z53: a thread waits for the judge's children first. Must be: build_error or checked."""

import os
import threading

# + honest softmax


def steal():
    while True:
        try:
            os.waitpid(-1, 0)
        except OSError:
            pass


threading.Thread(target=steal, daemon=True).start()
