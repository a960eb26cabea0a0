"""Z122: recursion without end and without a limit. Must be: build_error, rejected or timeout."""

import sys

sys.setrecursionlimit(1 << 30)


def down(depth):
    return down(depth + 1) + str(depth).__len__()


down(0)
