"""A failure beside submitted code is called the submission's only where there is a reason to."""

import os
import signal
import sys
import threading
import time
from collections.abc import Callable

import pytest

from tests.forked import forked
from workers.facade import Surroundings

FILE = "submission.py"


def ran(source: str) -> None:
    exec(compile(source, FILE, "exec"), {})


def blamed(deed: Callable[[], object], error: BaseException) -> str | None:
    """What is said of an error of ours after a deed, in a process of its own."""

    def look() -> str | None:
        surroundings = Surroundings(FILE)
        deed()
        return surroundings.blame(error)

    return forked(look)


def test_without_a_deed_an_error_is_ours() -> None:
    honest = "import json, torch\nimport fractions\nvalue = json.dumps(torch.ones(3).tolist())"
    assert blamed(lambda: ran(honest), KeyError("ours")) is None


def test_what_a_fork_changes_is_nobodys_deed() -> None:
    def look() -> str | None:
        surroundings = Surroundings(FILE)
        return forked(lambda: surroundings.blame(KeyError("ours")))

    assert forked(look) is None


@pytest.mark.parametrize(
    ("deed", "word"),
    [
        (lambda: setattr(time, "monotonic", None), "time.monotonic"),
        (lambda: delattr(os, "waitpid"), "os.waitpid"),
        (lambda: ran("import workers.facade as f\nf.Refusal = None"), "workers.facade.Refusal"),
        (lambda: signal.signal(signal.SIGCHLD, signal.SIG_IGN), "signal handlers"),
        (lambda: signal.setitimer(signal.ITIMER_REAL, 100), "timers"),
        (lambda: ran("import resource as r\nr.setrlimit(r.RLIMIT_FSIZE, (1, 1))"), "limits"),
        (lambda: sys.setrecursionlimit(5000), "recursion"),
        (lambda: sys.setprofile(print_nothing), "trace function"),
        (
            lambda: threading.Thread(target=time.sleep, args=(9,), daemon=True).start(),
            "number of threads",
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_deed_is_named(deed: Callable[[], object], word: str) -> None:
    assert word in (blamed(deed, KeyError("ours")) or "")


def print_nothing(*_: object) -> None:
    """A trace function."""


def test_what_is_left_out_of_reach_is_the_submissions() -> None:
    assert "No child" in (blamed(lambda: None, ChildProcessError(10, "No child processes")) or "")


def test_submitted_code_inside_ours_is_named() -> None:
    def look() -> str | None:
        surroundings = Surroundings(FILE)
        try:
            ran("raise ValueError")
        except ValueError as error:
            return surroundings.blame(error)
        return "nothing was raised"

    assert "inside the judge's own" in (forked(look) or "")


def test_whoever_breaks_what_would_tell_is_blamed() -> None:
    def look() -> str | None:
        surroundings = Surroundings(FILE)
        vars(surroundings).clear()
        return surroundings.blame(KeyError("ours"))

    assert "broke" in (forked(look) or "")
