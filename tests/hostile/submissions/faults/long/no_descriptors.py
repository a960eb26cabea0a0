"""P12, Z151: closes every descriptor. Must be: build_error or rejected."""

import os

# + honest softmax

os.closerange(0, 1024)
