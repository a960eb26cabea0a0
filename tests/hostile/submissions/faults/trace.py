"""89: a trace function that raises in the judge's code. Must be: build_error."""

import sys

# + honest softmax


def trace(frame, event, arg):
    raise KeyboardInterrupt


sys.setprofile(trace)
