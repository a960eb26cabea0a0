"""Z125: exceptions that resist, once it is interpreted. Must be: runtime_error."""

import os

# + honest softmax


class Nasty(Exception):
    def __str__(self):
        raise SystemExit(0)

    @property
    def __cause__(self):
        raise SystemExit(0)

    @property
    def __traceback__(self):
        raise SystemExit(0)

    __repr__ = __str__


if os.environ.get("TRITON_INTERPRET") == "1":
    raise Nasty
