"""Z106: a result of its own, then the judge's. Must be: rejected."""

import os
import stat

# + honest softmax


def result_pipe():
    for descriptor in range(3, 256):
        try:
            os.write(descriptor, b"")
            if stat.S_ISFIFO(os.fstat(descriptor).st_mode):
                return descriptor
        except OSError:
            continue
    raise RuntimeError("no pipe to forge on")


os.write(result_pipe(), bytes([1]) + (8).to_bytes(8) + b"accepted")
