"""libdevice's functions have stand-ins on the interpreter, or say that they have none."""

import pytest
import torch

from tests.interpret.interpreter import Interpreter, vectors

SOURCE = """
import torch, triton
import triton.language as tl
from triton.language.extra{package} import libdevice

@triton.jit
def kernel(a, y, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    value = tl.load(a + at)
    tl.store(y + at, {expression})

def solve(a):
    y = torch.empty_like(a)
    kernel[(1,)](a, y, BLOCK=16)
    return y
"""
VALUES = torch.linspace(-2, 2, 16)


@pytest.mark.parametrize("package", ["", ".cuda"])
@pytest.mark.parametrize(
    ("expression", "reference"),
    [
        ("libdevice.tanh(value)", torch.tanh),
        ("libdevice.pow(value, 2.0)", torch.square),
        ("libdevice.round(value)", lambda x: torch.sign(x) * torch.floor(x.abs() + 0.5)),
        ("libdevice.atan2(value, 0.5)", lambda x: torch.atan2(x, torch.tensor(0.5))),
    ],
)
def test_a_function_is_torchs(
    interpreter: Interpreter, package: str, expression: str, reference: object
) -> None:
    source = SOURCE.format(package=package, expression=expression)
    answer, (result,) = interpreter.run(source, vectors(16), [VALUES])
    assert answer.failure is None
    assert callable(reference)
    torch.testing.assert_close(result, reference(VALUES))
    assert any("libdevice." in caveat for caveat in answer.caveats)


def test_an_unknown_function_is_told(interpreter: Interpreter) -> None:
    source = SOURCE.format(package="", expression="libdevice.cyl_bessel_i0(value)")
    answer, _ = interpreter.run(source, vectors(16), [VALUES])
    assert "does not know libdevice.cyl_bessel_i0" in answer.left_out[0]
