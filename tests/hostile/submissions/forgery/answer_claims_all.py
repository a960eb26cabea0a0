"""Z103: once it is interpreted, says that all went well and brings no results. Must be: rejected."""

import os

from kernels.contract import frame, wire

# + honest softmax


def pack(self, results=()):
    answer = wire.InterpretAnswer.model_construct(completed=1000, failure=None)
    return frame.pack(answer.model_dump_json(), ())


if os.environ.get("TRITON_INTERPRET") == "1":
    wire.InterpretAnswer.pack = pack
