"""Z103: writes the error that only a fault of the judge makes, and leaves. Must be: judge_error."""

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


os.write(result_pipe(), bytes([2]) + (8).to_bytes(8) + b"a fault!")
os._exit(0)
