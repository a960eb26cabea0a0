"""Z122: leaves the judge's code no depth to call. Must be: build_error or checked."""

import sys

# + honest softmax

sys.setrecursionlimit(40)
