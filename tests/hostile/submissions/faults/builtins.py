"""91: takes the judge's builtins away. Must be: build_error."""

import builtins

# + honest softmax

builtins.len = builtins.isinstance = builtins.open = None
