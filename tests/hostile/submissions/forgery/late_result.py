"""Z106: a child that keeps the pipe and writes after the judge's answer.

Must be: rejected or checked."""

import os
import stat
import time

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


pipe = result_pipe()
if os.fork() == 0:
    while True:
        os.write(pipe, b"\1")
        time.sleep(0.001)
