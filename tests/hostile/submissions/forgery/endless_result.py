"""Z107: a result without end. Must be: rejected."""

import os
import stat


def result_pipe():
    for descriptor in range(3, 256):
        try:
            os.write(descriptor, b"")
            if stat.S_ISFIFO(os.fstat(descriptor).st_mode):
                return descriptor
        except OSError:
            continue
    raise RuntimeError("no pipe to forge on")


pipe = result_pipe()
while True:
    os.write(pipe, b"r" * (1 << 20))
