"""88: once it is interpreted, says that the interpreter could run nothing. Must be: judge_error."""

import os

from kernels.contract import frame, wire

# + honest softmax


def pack(self, results=()):
    answer = wire.InterpretAnswer.model_construct(
        completed=self.completed,
        failure=None,
        left_out=dict.fromkeys(range(self.completed), "none"),
    )
    return frame.pack(answer.model_dump_json(), ())


if os.environ.get("TRITON_INTERPRET") == "1":
    wire.InterpretAnswer.pack = pack
