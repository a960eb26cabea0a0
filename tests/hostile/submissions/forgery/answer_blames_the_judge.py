"""Z103: once it is interpreted, claims a fault of the judge, silently. Must be: rejected."""

import os

from kernels.contract import frame, wire

# + honest softmax


def pack(self, results=()):
    answer = wire.InterpretAnswer.model_construct(
        completed=0,
        failure=wire.Failure.model_construct(verdict="runtime_error", reason="", diagnostics=()),
    )
    return frame.pack(answer.model_dump_json(), ())


if os.environ.get("TRITON_INTERPRET") == "1":
    wire.InterpretAnswer.pack = pack
