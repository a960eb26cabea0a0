"""Z103: once it is interpreted, says that a few went well and nothing failed. Must be: rejected."""

import os

from kernels.contract import frame, wire

# + honest softmax


def pack(self, results=()):
    answer = wire.InterpretAnswer.model_construct(completed=3, failure=None)
    return frame.pack(answer.model_dump_json(), results[:3])


if os.environ.get("TRITON_INTERPRET") == "1":
    wire.InterpretAnswer.pack = pack
