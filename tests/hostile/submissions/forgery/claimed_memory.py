"""99: claims that memory ran out, in words that are none. Must be: rejected."""

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


os.write(result_pipe(), bytes([3]) + (4).to_bytes(8) + b"\xff\0\x1b[")
os._exit(0)
