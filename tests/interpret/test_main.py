"""Every way to end is an answer: results, or a failure with the submission's line."""

import pytest
import torch

from kernels.contract import DeviceName, Distribution
from kernels.contract.wire import Failure, InterpretAnswer, InterpretRequest, Run
from tests.interpret.interpreter import Interpreter, vectors

HEAD = """
import torch, triton
import triton.language as tl

@triton.jit
def double(a, y, N, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    value = tl.load(a + at, mask=at < N) * 2
    tl.store(y + at, value, mask=at < N)

"""
"""Ends with line 10."""
VALUES = torch.arange(10.0)


def failure(interpreter: Interpreter, source: str, dtype: str = "float32") -> Failure:
    values = VALUES.to(getattr(torch, dtype))
    answer, results = interpreter.run(source, vectors(10, dtype), [values])
    assert answer.completed == 0
    assert results == []
    assert answer.failure is not None
    return answer.failure


def test_results_and_caveats_come_back(interpreter: Interpreter) -> None:
    source = HEAD + (
        "def solve(a):\n    y = torch.empty_like(a)\n"
        "    double[(1,)](a, y, 10, BLOCK=16)\n    return y\n"
    )
    answer, (result,) = interpreter.run(source, vectors(10), [VALUES])
    assert (answer.completed, answer.failure) == (1, None)
    assert torch.equal(result, VALUES * 2)
    assert any("no races" in caveat for caveat in answer.caveats)


def test_results_need_not_be_contiguous(interpreter: Interpreter) -> None:
    source = HEAD + (
        "def solve(a):\n    y = torch.zeros(20, device='cuda')[::2]\n"
        "    y.copy_(a)\n    return (y,)\n"
    )
    answer, (result,) = interpreter.run(source, vectors(10), [VALUES])
    assert answer.failure is None
    assert torch.equal(result, VALUES)


def test_results_may_be_written_into_tensors_that_are_passed(interpreter: Interpreter) -> None:
    task = vectors(10).model_copy(update={"style": "out"})
    source = HEAD + "def solve(a, y):\n    double[(1,)](a, y, 9, BLOCK=16)\n"
    answer, (result,) = interpreter.run(source, task, [VALUES])
    assert answer.failure is None
    assert torch.equal(result[:9], VALUES[:9] * 2)
    assert result[9].isnan()


def test_an_autograd_function_is_applied(interpreter: Interpreter) -> None:
    source = HEAD + (
        "class solve(torch.autograd.Function):\n    @staticmethod\n    def forward(ctx, a):\n"
        "        y = torch.empty_like(a)\n        double[(1,)](a, y, 10, BLOCK=16)\n"
        "        return y\n"
    )
    answer, (result,) = interpreter.run(source, vectors(10), [VALUES])
    assert answer.failure is None
    assert torch.equal(result, VALUES * 2)


@pytest.mark.parametrize(
    ("body", "verdict", "line", "reason"),
    [
        ("def solve(a):\n    return 1 / 0", "runtime_error", 12, "ZeroDivisionError"),
        ("def solve(a):\n    raise SystemExit(0)", "runtime_error", 12, "SystemExit"),
        ("raise KeyboardInterrupt", "runtime_error", 11, "KeyboardInterrupt"),
        ("def solve(a:", "build_error", None, "SyntaxError"),
        ("def other(a): pass", "build_error", None, "defines no function 'solve'"),
        ("def solve(a):\n    return None", "runtime_error", None, "y must be a tensor"),
        ("def solve(a):\n    return a, a", "runtime_error", None, "returned 2 results"),
        ("def solve(a):\n    return a[1:]", "runtime_error", None, "must have shape (10,)"),
        ("def solve(a):\n    return a.half()", "runtime_error", None, "it has (10,) and float16"),
        ("def solve(a):\n    a.zero_()\n    return a", "wrong_answer", None, "its input a"),
        ("def solve(a):\n    return a.to('cuda:1')", "rejected", 12, "cuda:1 does not exist"),
        ("def solve(a):\n    double[(1,)](a, a, 10)", "runtime_error", 12, "'BLOCK'"),
        ("def solve(a):\n    return solve(a)", "runtime_error", 12, "RecursionError"),
    ],
)
def test_a_failure_says_what_and_where(
    interpreter: Interpreter, body: str, verdict: str, line: int | None, reason: str
) -> None:
    found = failure(interpreter, HEAD + body)
    assert found.verdict == verdict
    assert reason in found.reason
    assert found.diagnostics[0].line == line


def test_a_kernels_failure_has_the_kernels_line(interpreter: Interpreter) -> None:
    source = HEAD.replace("* 2", "* tl.load(missing)") + (
        "def solve(a):\n    y = torch.empty_like(a)\n    double[(1,)](a, y, 10, BLOCK=16)\n"
    )
    found = failure(interpreter, source)
    assert "name 'missing' is not defined" in found.reason
    assert found.diagnostics[0].line == 8


ASSEMBLY = HEAD.replace("* 2", '; tl.inline_asm_elementwise("", "=r,r", [at], tl.int32, True, 1)')
GLUON = """
import torch
from triton.experimental import gluon
from triton.experimental.gluon import language as gl

@gluon.jit
def double(a, y, N, BLOCK: gl.constexpr):
    at = gl.arange(0, BLOCK, layout=gl.BlockedLayout([1], [32], [4], [0]))
    gl.store(y + at, gl.load(a + at, mask=at < N) * 2, mask=at < N)

"""


@pytest.mark.parametrize(
    ("head", "what"), [(ASSEMBLY, "inline assembly"), (GLUON, "Gluon kernels")]
)
def test_cases_that_the_interpreter_cannot_run_are_left_out(
    interpreter: Interpreter, head: str, what: str
) -> None:
    source = head + (
        "calls = []\n"
        "def solve(a):\n"
        "    calls.append(a)\n"
        "    if len(calls) == 1:\n"
        "        double[(1,)](a, torch.empty_like(a), 10, BLOCK=16)\n"
        "    return torch.zeros_like(a)\n"
    )
    task = vectors(10)
    run = Run(case="only", distribution=Distribution.NORMAL, round=0)
    request = InterpretRequest(
        source=source, entry="solve", task=task, device=DeviceName.H200, runs=(run, run)
    )
    values = VALUES.numpy().tobytes()
    answer, results = InterpretAnswer.unpack(interpreter.ask(request.pack((values, values))))
    assert answer.failure is None
    assert answer.completed == 2
    assert answer.left_out == {
        0: f"the CPU interpreter cannot run {what}: only a GPU can judge this"
    }
    assert (answer.with_results((run, run)), results) == ((run,), [bytes(40)])


def test_tf32_is_as_coarse_as_on_the_gpu(interpreter: Interpreter) -> None:
    source = """
import torch, triton
import triton.language as tl

@triton.jit
def square(a, y, S: tl.constexpr, PRECISION: tl.constexpr):
    at = tl.arange(0, S)[:, None] * S + tl.arange(0, S)[None, :]
    tl.store(y + at, tl.dot(tl.load(a + at), tl.load(a + at), input_precision=PRECISION))

def solve(a):
    y = torch.empty_like(a)
    square[(1,)](a, y, S=32, PRECISION="{precision}")
    return y
"""
    values = torch.randn(1024, generator=torch.Generator().manual_seed(1))
    exact = (values.view(32, 32).double() @ values.view(32, 32).double()).view(-1)
    errors = {}
    for precision in ("tf32", "ieee"):
        answer, (result,) = interpreter.run(
            source.replace("{precision}", precision), vectors(1024), [values]
        )
        assert answer.failure is None
        errors[precision] = float((result - exact).norm() / exact.norm())
    assert errors["ieee"] < 1e-6
    assert 1e-4 < errors["tf32"] < 2e-3


def test_inputs_that_do_not_fit_the_runs_are_refused(interpreter: Interpreter) -> None:
    request = InterpretRequest(
        source="", entry="solve", task=vectors(10), device=DeviceName.H200, runs=()
    )
    assert interpreter.ask(request.pack((b"1234",))) == b""
    assert failure(interpreter, "def solve(a): pass").verdict == "runtime_error"


@pytest.mark.parametrize(
    "nasty",
    [
        "class E(Exception):\n    __cause__ = property(lambda self: 1 / 0)",
        "class E(Exception):\n    __traceback__ = property(lambda self: exit())",
        "class E(BaseException):\n    def __str__(self): raise E",
        "from workers.facade import Refusal\nclass E(Refusal):\n    reason = 7\n"
        "    def __init__(self): pass",
        "from workers.interpret.faults import Fault as E",
        "def E():\n    e = ValueError()\n    e.__cause__ = KeyError()\n"
        "    e.__cause__.__cause__ = e\n    return e",
        "def E(): return ValueError('\\ud800' * 100_000)",
    ],
)
def test_an_exception_that_resists_is_the_submissions(interpreter: Interpreter, nasty: str) -> None:
    found = failure(interpreter, f"{HEAD}{nasty}\ndef solve(a):\n    raise E()\n")
    assert found.verdict in ("runtime_error", "rejected")
    assert found.reason
