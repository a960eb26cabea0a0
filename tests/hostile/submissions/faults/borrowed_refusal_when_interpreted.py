"""103: the same once it is interpreted. Must be: rejected or runtime_error."""

import os

# + honest softmax

if os.environ.get("TRITON_INTERPRET") == "1":
    from workers.facade import Refusal

    class Silent(Refusal):
        def __init__(self):
            pass

        reason = remedy = property(lambda self: 7)

    raise Silent
