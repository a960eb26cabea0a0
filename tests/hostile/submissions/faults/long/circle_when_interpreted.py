"""Z125: causes in a circle, once it is interpreted. Must be: runtime_error."""

import os

# + honest softmax

if os.environ.get("TRITON_INTERPRET") == "1":
    error = ValueError()
    error.__cause__ = KeyError()
    error.__cause__.__cause__ = error
    raise error
