"""Z53: leaves ended children unwaited. Must be: build_error."""

import os

for _ in range(10_000):
    if os.fork() == 0:
        os._exit(0)
