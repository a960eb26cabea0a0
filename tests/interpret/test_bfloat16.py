"""bfloat16 on the interpreter is what torch, and so the hardware, makes of it."""

import numpy as np
import pytest
import torch

from tests.interpret.interpreter import Interpreter, vectors
from workers.interpret.bfloat16 import from_patterns, rounded, to_patterns, truncated

EDGES = np.array(
    [0.0, -0.0, 1.0, np.inf, -np.inf, np.nan, 1.00390625, 1.01171875, 3.4e38, 1e-40, -1e-45],
    np.float32,
)
KERNEL = """
import torch, triton
import triton.language as tl

@triton.jit
def kernel(a, b, y, N, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    p = tl.load(a + at, mask=at < N, other=0.0)
    q = tl.load(b + at, mask=at < N, other=0.0)
    tl.store(y + at, {expression}, mask=at < N)

def solve(a, b):
    y = torch.empty_like(a)
    kernel[(1,)](a, b, y, a.numel(), BLOCK=triton.next_power_of_2(a.numel()))
    return y
"""


def patterns(count: int = 4096) -> np.ndarray:
    """Random bits as float32: every magnitude, NaN and infinity among them."""
    bits = np.random.default_rng(3).integers(0, 2**32, count, dtype=np.uint32)
    return np.concatenate([bits.view(np.float32), EDGES])


def bits_of(values: torch.Tensor) -> torch.Tensor:
    """Patterns, with one for all NaN."""
    return torch.where(values.isnan(), 0x7FC0, values.view(torch.int16).int())


def test_rounding_is_torchs() -> None:
    values = patterns()
    expected = torch.from_numpy(values).to(torch.bfloat16)
    assert torch.equal(bits_of(torch.from_numpy(rounded(values)).bfloat16()), bits_of(expected))
    assert np.array_equal(rounded(rounded(values)), rounded(values), equal_nan=True)


def test_truncation_never_grows() -> None:
    values = np.array([1.00390625, -1.0078, 2.9], np.float32)
    cut = truncated(values)
    assert np.all(np.abs(cut) <= np.abs(values))
    assert np.array_equal(cut, rounded(cut))


def test_patterns_survive_both_ways() -> None:
    every = np.arange(2**16, dtype=np.uint16)
    finite = every[~np.isnan(from_patterns(every))]
    assert np.array_equal(to_patterns(from_patterns(finite)), finite)


@pytest.mark.parametrize(
    ("expression", "reference"),
    [
        ("p + q", lambda p, q: p + q),
        ("p - q", lambda p, q: p - q),
        ("p * q", lambda p, q: p * q),
        ("-p", lambda p, q: -p),
        ("tl.abs(p)", lambda p, q: p.abs()),
        ("tl.maximum(p, q)", lambda p, q: torch.maximum(p, q)),
        ("tl.where(p > q, p, q)", lambda p, q: torch.where(p > q, p, q)),
        ("tl.where(p == p, q, p)", lambda p, q: q),
        ("p + 1.0", lambda p, q: p + 1.0),
        ("p.to(tl.float32) / q.to(tl.float32)", lambda p, q: (p.float() / q.float()).bfloat16()),
        ("tl.exp(p.to(tl.float32)).to(tl.bfloat16)", lambda p, q: p.float().exp().bfloat16()),
        ("p.to(tl.float16)", lambda p, q: p.half().bfloat16()),
        ("p.to(tl.int32)", lambda p, q: p.int().bfloat16()),
        ("p.to(tl.int16, bitcast=True).to(tl.bfloat16, bitcast=True)", lambda p, q: p),
        ("p * 0 + tl.sum(p, axis=0)", lambda p, q: p.float().sum().bfloat16().expand_as(p)),
        ("p * 0 + tl.max(p, axis=0)", lambda p, q: p.max().expand_as(p)),
        ("tl.full((BLOCK,), 1.5, tl.bfloat16) * p", lambda p, q: 1.5 * p),
    ],
)
def test_one_operation_is_bit_for_bit_torchs(
    interpreter: Interpreter, expression: str, reference: object
) -> None:
    generator = torch.Generator().manual_seed(5)
    p, q = (torch.randn(128, generator=generator).mul(8).bfloat16() for _ in range(2))
    task = vectors(128, "bfloat16", inputs=2)
    answer, results = interpreter.run(KERNEL.format(expression=expression), task, [p, q])
    assert answer.failure is None
    assert callable(reference)
    assert torch.equal(bits_of(results[0]), bits_of(reference(p, q)))


def test_dot_sums_in_float32(interpreter: Interpreter) -> None:
    source = """
import torch, triton
import triton.language as tl

@triton.jit
def kernel(a, b, y, S: tl.constexpr):
    at = tl.arange(0, S)[:, None] * S + tl.arange(0, S)[None, :]
    tl.store(y + at, tl.dot(tl.load(a + at), tl.load(b + at)).to(tl.bfloat16))

def solve(a, b):
    y = torch.empty_like(a)
    kernel[(1,)](a, b, y, S=32)
    return y
"""
    generator = torch.Generator().manual_seed(6)
    a, b = (torch.randn(1024, generator=generator).bfloat16() for _ in range(2))
    answer, (result,) = interpreter.run(source, vectors(1024, "bfloat16", inputs=2), [a, b])
    assert answer.failure is None
    exact = a.view(32, 32).double() @ b.view(32, 32).double()
    error = (result.view(32, 32).double() - exact).abs()
    assert bool((error <= exact.abs() * 2**-8 + 1e-5).all())


def test_atomics_are_refused_as_unsupported(interpreter: Interpreter) -> None:
    source = KERNEL.replace("tl.store(y + at, {expression}", "tl.atomic_add(y + at, p")
    values = [torch.ones(16, dtype=torch.bfloat16)] * 2
    answer, _ = interpreter.run(source, vectors(16, "bfloat16", inputs=2), values)
    assert "interpreter has no atomic operations on bfloat16" in answer.left_out[0]
