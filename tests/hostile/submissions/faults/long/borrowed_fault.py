"""103: raises the judge's own words for a fault, empty. Must be: build_error or runtime_error."""

import os

# + honest softmax

if os.environ.get("TRITON_INTERPRET") == "1":
    from workers.interpret.faults import OutOfBounds, WrongResult

    class Silent(WrongResult, OutOfBounds):
        pass

    raise Silent("")
