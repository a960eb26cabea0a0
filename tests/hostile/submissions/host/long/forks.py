"""P12, Z51, 123: a fork bomb. Must be: timeout, build_error or rejected."""

import os

while True:
    try:
        os.fork()
    except OSError:
        pass
