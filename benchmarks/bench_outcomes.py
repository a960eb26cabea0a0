"""What it costs to follow the outcomes of host code that times kernels itself.

    python -m benchmarks.bench_outcomes

Builds one small kernel in several block sizes, without a jail: once all of them are launched, once
the fastest by do_bench. The difference is what following each outcome costs, in processor time,
which tells more where the machine has other work.
"""

import os

from kernels.contract import Bundle
from tests.build.builds import COPY, COPYING, answer

_REPEATS = 5
_SOURCE = """
from triton.testing import do_bench

def launch(x, y, block):
    copy[(triton.cdiv(100, block),)](x, y, 100, BLOCK=block)

def solve(x):
    y = torch.empty_like(x)
    blocks = [2**i for i in range(4, 4 + COUNT)]
    LAUNCHES
    return y
"""
_ALL = "[launch(x, y, block) for block in blocks]"
_FASTEST = "launch(x, y, min(blocks, key=lambda block: do_bench(lambda: launch(x, y, block))))"


def main() -> None:
    """Print processor seconds by the number of candidates."""
    print("candidates  all launched, s  fastest, s  per candidate, ms")
    for count in (1, 4, 8):
        everything, fastest = (_seconds(launches, count) for launches in (_ALL, _FASTEST))
        each = (fastest - everything) / count * 1000
        print(f"{count:10}  {everything:15.3f}  {fastest:10.3f}  {each:17.1f}")


def _seconds(launches: str, count: int) -> float:
    """The least of several builds."""
    source = COPY + _SOURCE.replace("COUNT", str(count)).replace("LAUNCHES", launches)
    best = float("inf")
    for _ in range(_REPEATS):
        started = _spent()
        if not isinstance(answer(source, COPYING), Bundle):
            raise SystemExit("the example does not build")
        best = min(best, _spent() - started)
    return best


def _spent() -> float:
    times = os.times()
    return times.children_user + times.children_system


if __name__ == "__main__":
    main()
