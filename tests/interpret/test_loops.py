"""Loops count in scalars of the type that a compiled kernel counts in."""

import pytest
import torch

from tests.interpret.interpreter import Interpreter, vectors

HEAD = """
import torch
import triton
import triton.language as tl
from triton.language import range as counting
"""
ZEROS = torch.zeros(8)


@pytest.mark.parametrize("loop", ["range", "tl.range", "counting"])
def test_the_variable_is_a_scalar_that_wraps_as_its_type_does(
    interpreter: Interpreter, loop: str
) -> None:
    source = f"""
@triton.jit
def inner(y, start, end, step):
    for at in {loop}(start, end, step):
        tl.static_assert(at.dtype == tl.int32)
        tl.store(y + at, (at * 1000000000).to(tl.float32))

@triton.jit
def kernel(y, M, wide):
    inner(y, tl.program_id(0), M, tl.num_programs(0))
    for at in {loop}(wide, wide + 1):
        tl.static_assert(at.dtype == tl.int64)
        tl.store(y + 6 + at - wide, at.to(tl.float32))
    for at in {loop}(7, 6, -1):
        tl.store(y + at.to(tl.int64), at.to(tl.float32))

def solve(a):
    y = torch.zeros_like(a)
    kernel[(2,)](y, 5, 1 << 40)
    return y
"""
    answer, (result,) = interpreter.run(HEAD + source, vectors(8), [ZEROS])
    assert answer.failure is None
    wrapped = (torch.arange(5, dtype=torch.int32) * 1_000_000_000).float()
    assert torch.equal(result, torch.cat([wrapped, torch.tensor([0.0, 2.0**40, 7.0])]))


def test_unrolled_loops_count_in_constants(interpreter: Interpreter) -> None:
    source = """
@triton.jit
def kernel(y, N: tl.constexpr):
    for power in tl.static_range(0, N):
        BLOCK: tl.constexpr = 2**power
        tl.store(y + BLOCK + tl.arange(0, BLOCK), power)

def solve(a):
    assert [*range(3)] == [0, 1, 2] and all(type(i) is int for i in range(3))
    y = torch.zeros_like(a)
    kernel[(1,)](y, 3)
    return y
"""
    answer, (result,) = interpreter.run(HEAD + source, vectors(8), [ZEROS])
    assert answer.failure is None
    assert result.tolist() == [0, 0, 1, 1, 2, 2, 2, 2]


DOWN = """
@triton.jit
def inner(y, start, step):
    for at in range(start, 0, step):
        tl.store(y + at, at.to(tl.float32))

@triton.jit
def kernel(y, M, down):
    STEP
    LOOP

def solve(a):
    y = torch.zeros_like(a)
    kernel[(1,)](y, 5, -2)
    return y
"""


@pytest.mark.parametrize(
    ("step", "loop", "counts"),
    [
        ("pass", "inner(y, M, -2)", True),
        ("step: tl.constexpr = -2", "inner(y, M, step)", True),
        ("pass", "inner(y, M, down)", False),
        ("step = -2", "inner(y, M, step)", False),
    ],
)
def test_only_a_constant_step_counts_down(
    interpreter: Interpreter, step: str, loop: str, counts: bool
) -> None:
    source = DOWN.replace("STEP", step).replace("LOOP", loop)
    answer, (result,) = interpreter.run(HEAD + source, vectors(8), [ZEROS])
    assert answer.failure is None
    assert result.tolist() == ([0, 1, 0, 3, 0, 5, 0, 0] if counts else [0] * 8)


def test_a_loop_that_would_never_end_says_so(interpreter: Interpreter) -> None:
    source = DOWN.replace("STEP", "pass").replace("LOOP", "inner(y, M - 6, down)")
    answer, _ = interpreter.run(HEAD + source, vectors(8), [ZEROS])
    assert answer.failure is not None
    assert "never ends" in answer.failure.reason
