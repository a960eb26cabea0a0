"""What is submitted: cheap sources whose verdicts are known."""

import random
from dataclasses import dataclass

from kernels.contract import DeviceName, Verdict

_HEAD = """
import torch
import triton
import triton.language as tl
"""
_DOUBLE = """
@triton.jit
def {name}(x, y, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + i, tl.load(x + i, mask=i < n) * {factor}, mask=i < n)

def solve(x):
    y = torch.empty_like(x)
    {name}[(triton.cdiv(x.numel(), 256),)](x, y, x.numel(), BLOCK=256)
    return y
"""
WRONG, CRASHES = "wrong", "crashes"
"""How the kernels of wrong submissions are called, for the stand-in that cannot run them."""

_RIGHT = _HEAD + _DOUBLE.format(name="double", factor=2)
_SLOW = "import time\n\ntime.sleep(1.5)\n" + _RIGHT
_WRONG = _HEAD + _DOUBLE.format(name=WRONG, factor=3)
CRASHING = _HEAD + _DOUBLE.format(name=CRASHES, factor=2)
RIGHT = _RIGHT
_READS = _RIGHT.replace("return y", "return y if y.sum().item() else y")
_BROKEN = _RIGHT.replace("import triton.language as tl", "")
_DISTINCT = 9
"""Different texts of each kind; equal ones find their plan in the cache."""


@dataclass(frozen=True)
class Work:
    """One submission and the verdict that is right for it."""

    source: str
    device: DeviceName
    expected: Verdict


def draw(chance: random.Random) -> Work:
    """A submission; H200 has stand-ins that measure, for H100 there is the interpreter."""
    device = chance.choice((DeviceName.H200, DeviceName.H100))
    right = Verdict.ACCEPTED if device is DeviceName.H200 else Verdict.CHECKED
    source, expected = chance.choice(
        (
            (_RIGHT, right),
            (_RIGHT, right),
            (_SLOW, right),
            (_SLOW, right),
            (_WRONG, Verdict.WRONG_ANSWER),
            (_READS, Verdict.REJECTED),
            (_BROKEN, Verdict.BUILD_ERROR),
        )
    )
    return Work(f"# text {chance.randrange(_DISTINCT)}\n{source}", device, expected)
