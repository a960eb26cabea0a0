"""99, Z103-105: writes a result of its own before anything is done, and leaves. Must be: rejected."""

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


os.write(result_pipe(), bytes([1]) + (8).to_bytes(8) + b"accepted")
os._exit(0)
