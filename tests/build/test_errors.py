"""What authors read when Python or Triton refuses their code."""

import pytest

from kernels.contract import Bundle, DeviceName
from kernels.contract.wire import BuildRequest, Failure
from tests.build.builds import AFTER_COPY, COPY, COPYING, answer, failed, submission, task
from tests.forked import forked
from workers.build import assembly, main
from workers.build.answer import BuildFault


@pytest.mark.parametrize(
    ("source", "reason", "line"),
    [
        ("def solve(x:\n    return x", "SyntaxError: '(' was never closed", 1),
        ("import nothing_of_that_name", "ModuleNotFoundError: No module named", 1),
        ("def other(x): return x", "the submission does not define solve", None),
        ("solve = 3", "solve is no function", None),
        ("import sys\nsys.exit(3)", "the code ended the program with exit code 3", 2),
        ("raise KeyboardInterrupt", "KeyboardInterrupt", 1),
        ("def solve(x): return solve(x)", "RecursionError: maximum recursion depth", 1),
        ("def solve(x):\n    y = 1\n    return y.shape", "AttributeError: 'int' object has no", 3),
        ("def solve(x, y): return x", "TypeError: solve() missing 1 required positional", None),
        ("def solve(x): return 1", "case case_0: result y is a int, not a tensor", 1),
        (
            "def solve(x): return x, x",
            "case case_0: the entry function returned 2 values, the",
            1,
        ),
        ("def solve(x): return x[:5]", "case case_0: result y has shape (5,) and type", 1),
        ("def solve(x): return x.double()", "case case_0: result y has shape (100,)", 1),
        ("import torch\ndef solve(x): return torch.ones(100)", "result y is a CPU tensor", 2),
        ("import os\nos.chdir('/')\nraise ValueError('é' * 5000)", "ValueError: éé", 3),
        (
            "e = SyntaxError('x')\ne.filename, e.lineno = 'submission.py', -5\nraise e",
            "the code raised an exception that cannot be shown",
            None,
        ),
        ("def __getattr__(name): raise MemoryError", "does not define solve", None),
        ("class R(list):\n  def __iter__(self): 1 / 0\ndef solve(x): return R()", "ZeroDiv", 2),
        ("class R:\n  __class__ = property(exit)\ndef solve(x): return R()", "ended the", None),
        ("class E(Exception):\n  def __str__(self): 1 / 0\nraise E", "E: <exception str() fail", 3),
    ],
)
def test_python_errors(source: str, reason: str, line: int | None) -> None:
    failure = answer(source, COPYING)
    assert isinstance(failure, Failure)
    assert failure.verdict == "build_error"
    assert reason in failure.reason
    if line is not None:
        assert failure.diagnostics[0].line == line


@pytest.mark.parametrize(
    ("code", "how"),
    [
        ("os._exit(0)", "exit code 0"),
        ("os._exit(30)", "without an answer"),
        ("os.kill(os.getpid(), 9)", "SIGKILL"),
    ],
)
def test_host_code_that_ends_its_process(code: str, how: str) -> None:
    failure = failed(f"import os\ndef solve(x): {code}")
    assert failure.verdict == "build_error"
    assert failure.reason == f"the host function ended its process ({how})"


@pytest.mark.parametrize(
    "code",
    [
        "resource.setrlimit(resource.RLIMIT_NOFILE, (0, 0))",
        "resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))",
        "os.closerange(3, 1024)\n    resource.setrlimit(resource.RLIMIT_NOFILE, (3, 3))",
    ],
)
def test_host_code_that_leaves_nothing_to_answer_with(code: str) -> None:
    imports = "import os, resource, signal\nsignal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
    failure = failed(f"{imports}def solve(x):\n    {code}\n    return run(x, torch.empty_like(x))")
    assert failure.verdict == "build_error"
    assert "without files, descriptors or room" in failure.reason


def test_an_error_of_ours_beside_an_honest_case_is_no_failure_of_its_own() -> None:
    request = BuildRequest(
        source=COPY + "def solve(x):\n    return run(x, torch.empty_like(x))\n",
        entry="solve", task=COPYING, device=DeviceName.H200, seconds=60,
    )  # fmt: skip

    def broken(*_: object) -> None:
        raise KeyError("ours")

    def child() -> str:
        assembly.assemble = broken  # type: ignore[assignment]
        try:
            main.run(request.pack())
        except BuildFault as fault:
            return str(fault)
        return "no fault"

    assert "KeyError: 'ours'" in forked(child)


def test_a_module_that_never_ends_is_told_where_it_was() -> None:
    failure = failed("count = 0\nwhile True:\n    count += 1", seconds=0.5)
    assert failure.verdict == "timeout"
    assert failure.reason.endswith("the module was still being imported")
    assert failure.diagnostics[0].line in (AFTER_COPY + 1, AFTER_COPY + 2)


def test_a_compiler_error_has_the_submissions_line() -> None:
    failure = failed("""
@triton.jit
def broken(x_ptr):
    value = tl.load(x_ptr)
    tl.store(x_ptr, value + undefined_name)

def solve(x):
    broken[(1,)](x)
    return x
""")
    assert failure.verdict == "build_error"
    assert failure.reason == "CompilationError: NameError('undefined_name is not defined')"
    (diagnostic,) = failure.diagnostics
    assert diagnostic.line == AFTER_COPY + 4
    assert diagnostic.message.startswith(f"at {AFTER_COPY + 4}:")
    assert "tl.store(x_ptr, value + undefined_name)" in diagnostic.message


def test_the_innermost_cause_comes_first() -> None:
    failure = failed("""
@triton.jit
def inner(value):
    return tl.dot(value, value)

@triton.jit
def outer(x_ptr):
    tl.store(x_ptr, inner(tl.load(x_ptr)))

def solve(x):
    outer[(1,)](x)
    return x
""")
    lines = [diagnostic.line for diagnostic in failure.diagnostics]
    assert lines == [AFTER_COPY + 3, AFTER_COPY + 7]
    assert "return tl.dot(value, value)" in failure.diagnostics[0].message


def test_an_unknown_keyword_of_a_kernel() -> None:
    failure = failed("def solve(x):\n    copy[(1,)](x, x, 1, BLOCK=64, BLOK=3)\n    return x")
    assert "Keyword argument BLOK was specified but unrecognised" in failure.reason
    assert failure.diagnostics[0].line == AFTER_COPY + 1


def test_a_cpu_tensor_as_kernel_argument() -> None:
    failure = failed("def solve(x):\n    return run(torch.ones(100), torch.empty_like(x))")
    assert failure.reason == (
        "ValueError: Pointer argument (at 0) cannot be accessed from Triton (cpu tensor?)"
    )


def test_a_kernel_that_needs_too_much_shared_memory() -> None:
    source = submission("matmul_autotuned").replace(
        "config(32, 32, 32, 2, 4), config(64, 32, 32, 2, 4), ", ""
    )
    asked = task(
        {"a": ("N", "N"), "b": ("N", "N")}, {"c": ("N", "N")}, {"N": 512, "dtype": "float16"}
    )
    failure = answer(source, asked)
    assert isinstance(failure, Failure)
    assert failure.verdict == "build_error"
    assert "out of resource: shared memory, Required: " in failure.reason
    line = failure.diagnostics[0].line
    assert line is not None
    assert "product[" in source.splitlines()[line - 1]


def test_the_first_failing_case_is_the_one_reported() -> None:
    asked = task(
        {"x": ("N",)}, {"y": ("N",)}, *({"N": n, "dtype": "float32"} for n in (64, 128, 256, 512))
    )
    body = "def solve(x):\n    assert x.numel() < 128, x.numel()\n    return run(x, x.clone())"
    source = COPY + body
    for _ in range(3):
        failure = answer(source, asked)
        assert isinstance(failure, Failure)
        assert failure.reason == "AssertionError: 128"
    assert isinstance(answer(source.replace("< 128", "< 1000"), asked), Bundle)
