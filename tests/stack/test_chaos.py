"""kill -9 of each process at each stage: the submission still ends, once."""

import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from scripts.stack import ROOT, Stack
from tests.processes import (
    BUILD,
    INTERPRET,
    MEASURE,
    Find,
    horse,
    inmate,
    installation,
    queue_worker,
    server,
    warden,
)
from tests.stack.conftest import free_port

# Slow enough to be met at work: the module is run once to build it and once to check it.
SLOW = (
    "import time\n\ntime.sleep(4)\n"
    + (ROOT / "kernels/tasks/softmax/solutions/fused.py").read_text()
)
_ENDS_WITHIN_S = 150


COMPILING, CHECKING = "compiling", "checking"

# stage, who dies, and whether the judge cannot tell it from the submission's own end.
KILLS: dict[str, tuple[str, Find, bool]] = {
    "service while queued": ("", lambda a: [p for p in a if p.runs("-m", "app")], False),
    "service": (COMPILING, lambda a: [p for p in a if p.runs("-m", "app")], False),
    "redis": (COMPILING, lambda a: [p for p in a if "valkey-server" in p.words[0]], False),
    "supervisor": (COMPILING, lambda a: [p for p in a if p.runs("-m", "workers")], False),
    "queue worker": (COMPILING, queue_worker, False),
    "work horse": (COMPILING, horse, False),
    "build server": (COMPILING, server(BUILD), False),
    "build warden": (COMPILING, warden(BUILD), False),
    "build inmate": (COMPILING, inmate(BUILD), True),
    "work horse in the check": (CHECKING, horse, False),
    "interpreter server": (CHECKING, server(INTERPRET), False),
    "interpreter warden": (CHECKING, warden(INTERPRET), False),
    "interpreter inmate": (CHECKING, inmate(INTERPRET), True),
    "comparing server": (CHECKING, server(MEASURE), False),
}


@pytest.fixture(scope="module")
def stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    """An installation whose two programs are started again when they end."""
    done = threading.Event()
    settings = {"KERNELJUDGE_GPU": "off"}
    with Stack(tmp_path_factory.mktemp("chaos"), free_port(), settings) as stack:
        stack.wait_until_ready()

        def keep_alive() -> None:
            while not done.wait(0.2):
                stack.keep_alive()

        keeper = threading.Thread(target=keep_alive)
        keeper.start()
        yield stack
        done.set()
        keeper.join()


def read(stack: Stack, submission: str) -> dict[str, Any]:
    """The submission, once the service answers again."""
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        detail = stack.ask(f"/api/v1/submissions/{submission}")
        if detail is not None:
            return detail
        time.sleep(0.1)
    raise AssertionError("the service did not come back")


def wait_for(stack: Stack, submission: str, reached: Callable[[dict[str, Any]], bool]) -> Any:
    deadline = time.monotonic() + _ENDS_WITHIN_S
    while time.monotonic() < deadline:
        detail = read(stack, submission)
        if reached(detail):
            return detail
        time.sleep(0.1)
    raise AssertionError(f"{submission} is still {detail['stage']}: {detail['stages']}")


def at_stage(word: str) -> Callable[[dict[str, Any]], bool]:
    return lambda d: not word or any(word in stage["detail"] for stage in d["stages"])


@pytest.mark.parametrize("name", KILLS)
def test_the_submission_still_ends_once(stack: Stack, name: str) -> None:
    stage, victims, own_fault = KILLS[name]
    stack.wait_until_ready()
    # Its own source, so that its plan is not taken from the cache.
    submission = stack.submit("softmax", f"# {name}\n{SLOW}")["id"]
    wait_for(stack, submission, at_stage(stage))
    killed = []
    for _ in range(1000):
        killed = victims(installation(stack))
        if killed:
            break
        time.sleep(0.02)
    assert killed, f"no {name} to kill"
    for process in killed:
        os.kill(process.pid, signal.SIGKILL)
    detail = wait_for(stack, submission, lambda d: d["stage"] == "finished")
    assert own_fault or detail["verdict"] == "checked", detail["reason"]
    finishes = [s for s in detail["stages"] if s["stage"] == "finished"]
    assert len(finishes) == 1
    time.sleep(1)
    assert read(stack, submission) == detail, "it was judged again after its end"
