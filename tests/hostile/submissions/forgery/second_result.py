"""Z106: a result of its own, then the judge's. Must be: rejected."""

import os

# + honest softmax


def result_pipe():
    for descriptor in range(3, 256):
        try:
            os.write(descriptor, b"")
            return descriptor
        except OSError:
            continue
    raise RuntimeError("no pipe to forge on")


os.write(result_pipe(), bytes([1]) + (8).to_bytes(8) + b"accepted")
