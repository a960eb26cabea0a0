"""Z103: once it is interpreted, brings infinities and the largest numbers. Must be: wrong_answer."""

import os

from kernels.contract import frame, wire

# + honest softmax


def pack(self, results=()):
    answer = wire.InterpretAnswer.model_construct(completed=self.completed)
    return frame.pack(
        answer.model_dump_json(), tuple((b"\x80\x7f" * len(r))[: len(r)] for r in results)
    )


if os.environ.get("TRITON_INTERPRET") == "1":
    wire.InterpretAnswer.pack = pack
