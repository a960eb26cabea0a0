"""Z107: a result without end. Must be: rejected."""

import os


def result_pipe():
    for descriptor in range(3, 256):
        try:
            os.write(descriptor, b"")
            return descriptor
        except OSError:
            continue
    raise RuntimeError("no pipe to forge on")


pipe = result_pipe()
while True:
    os.write(pipe, b"r" * (1 << 20))
