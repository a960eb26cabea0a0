"""Z61: asks for memory that belongs to no process. Must be: checked."""

import mmap
import os

# + honest softmax

for name, action in {
    "/dev/shm": lambda: open("/dev/shm/kept", "wb").write(b"x"),
    "memfd": lambda: os.memfd_create("kept"),
    "shared mapping": lambda: mmap.mmap(-1, 1 << 20),
}.items():
    try:
        action()
        print("LEAKED", name)
    except OSError as error:
        print(name, error)
