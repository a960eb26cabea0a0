"""Cases as processes: endless and crashing compilers cost one kernel, not the build."""

import threading
import time
from pathlib import Path

import pytest

from kernels.contract import Bundle, Choice
from kernels.contract.wire import Failure
from tests.build.builds import COPY, COPYING, answer
from workers.build.budget import Budget
from workers.build.claims import Claims
from workers.build.failures import BuildFailed
from workers.build.schedule import ANSWERED, FAILED, Schedule

# What the compiler does to a kernel cannot be told in its source: these patch Triton's backend
# from submitted code, which costs nobody but the submission.
HANG, CRASH = "while True: pass", "os.kill(os.getpid(), 11)"
PATCHED = """
import os, time
from triton.backends.nvidia.compiler import CUDABackend
make = CUDABackend.make_ttgir

def broken(module, metadata, options, capability):
    if options.num_warps == 8:
        ACTION
    return make(module, metadata, options, capability)

CUDABackend.make_ttgir = staticmethod(broken)
"""
TUNED = """
tuned = triton.autotune([triton.Config({"BLOCK": 64}, num_warps=w) for w in (4, 8, 2)], ["count"])(copy)

def solve(x):
    y = torch.empty_like(x)
    tuned[(2,)](x, y, x.numel())
    return y
"""  # noqa: E501
PLAIN = """
def solve(x):
    y = torch.empty_like(x)
    copy[(2,)](x, y, x.numel(), BLOCK=64, num_warps=8)
    return y
"""


def test_a_configuration_that_crashes_the_compiler_is_dropped() -> None:
    found = answer(COPY + PATCHED.replace("ACTION", CRASH) + TUNED, COPYING)
    assert isinstance(found, Bundle), found
    (choice,) = found.plan.cases[0].steps
    assert isinstance(choice, Choice)
    assert len(choice.alternatives) == 2
    assert [d.reason for d in choice.dropped] == ["the compiler crashed on copy (SIGSEGV)"]


def test_a_kernel_that_crashes_the_compiler_is_a_build_error_with_its_line() -> None:
    failure = answer(COPY + PATCHED.replace("ACTION", CRASH) + PLAIN, COPYING)
    assert isinstance(failure, Failure)
    assert failure.verdict == "build_error"
    assert failure.reason == "the compiler crashed on copy (SIGSEGV)"
    assert failure.diagnostics[0].line


def test_an_endless_compilation_costs_one_configuration() -> None:
    source = COPY + PATCHED.replace("ACTION", HANG) + TUNED
    found = answer(source, COPYING, kernel_seconds=0.5)
    assert isinstance(found, Bundle), found
    (choice,) = found.plan.cases[0].steps
    assert isinstance(choice, Choice)
    assert [d.reason for d in choice.dropped] == ["copy did not compile within 0.5 s"]


def test_an_endless_compilation_of_what_is_needed_is_a_timeout() -> None:
    source = COPY + PATCHED.replace("ACTION", HANG) + PLAIN
    failure = answer(source, COPYING, kernel_seconds=0.5)
    assert isinstance(failure, Failure)
    assert failure.verdict == "timeout"
    assert failure.reason == "copy did not compile within 0.5 s"
    assert "num_warps" in (failure.diagnostics[0].remedy or "")


def test_endless_host_code_is_a_timeout() -> None:
    failure = answer("def solve(x):\n    while True: pass", COPYING, seconds=0.5)
    assert isinstance(failure, Failure)
    assert failure.verdict == "timeout"
    assert failure.reason.endswith("it was still running the host function")


def test_host_code_that_only_waits_is_ended_too() -> None:
    source = "import time\ndef solve(x):\n    while True: time.sleep(1)"
    failure = answer(source, COPYING, seconds=0.5)
    assert isinstance(failure, Failure)
    assert failure.verdict == "timeout"
    assert "without work: it was still running the host function" in failure.reason


def test_without_time_further_configurations_are_left_out() -> None:
    found = answer(COPY + TUNED, COPYING, optional_share=0.0, processors=1)
    assert isinstance(found, Bundle), found
    case = found.plan.cases[0]
    (choice,) = case.steps
    assert isinstance(choice, Choice)
    assert {d.reason for d in choice.dropped} == {"left out: the time for building ran short"}
    assert len(case.notes) == 1


def scheduled(tmp_path: Path, cases: int, outcome: dict[int, int], **more: float) -> list[int]:
    """Cases that wrote a file, when each ends with the status given for it."""

    def work(number: int, helper: bool) -> int:
        if not helper:
            (tmp_path / f"case{number}").touch()
        return outcome.get(number, ANSWERED)

    Schedule(
        cases=cases,
        work=work,
        claims=Claims(tmp_path / "claims"),
        processors=3,
        budget=Budget(60, time.monotonic(), tmp_path),
        kernel_seconds=60,
    ).run()
    return sorted(int(path.name[4:]) for path in tmp_path.glob("case*"))


def test_all_cases_run(tmp_path: Path) -> None:
    assert scheduled(tmp_path, 9, {}) == list(range(9))


def test_after_a_failure_only_what_comes_before_matters(tmp_path: Path) -> None:
    ran = scheduled(tmp_path, 40, {1: FAILED})
    assert {0, 1} <= set(ran)
    assert len(ran) < 40


def test_a_case_that_dies_is_a_failure_and_leaves_no_process(tmp_path: Path) -> None:
    before = children()
    with pytest.raises(BuildFailed, match="exit code 7"):
        scheduled(tmp_path, 3, {1: 7})
    assert children() == before


def children() -> set[str]:
    """Process ids, also of servers that other tests started; and of the dead not yet waited for."""
    return set(Path(f"/proc/self/task/{threading.get_native_id()}/children").read_text().split())
