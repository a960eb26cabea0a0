"""A measuring server's entry, in a jail: the GPU it stands for is as ill as a file says."""

import os
from pathlib import Path

from kernels.contract.wire import ProbeAnswer


def run(request: bytes) -> bytes:
    """Answer a ProbeRequest: with the file's text, or by ending as the file asks."""
    text = Path(os.environ["STAND_IN_GPU"], "illness").read_text()
    if text == "dies":
        os._exit(1)
    return ProbeAnswer(problem=text).pack()
