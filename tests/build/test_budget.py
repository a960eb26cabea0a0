"""The budget of a build: processor time counts, the clock only where little of that is used."""

import os
import signal
import time
from pathlib import Path

import pytest

from workers.build.budget import Budget, processor_time


class Clock:
    """What time.monotonic() says, as a test has it."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = 1000.0
        monkeypatch.setattr(time, "monotonic", lambda: self.now)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """A clock that stands still."""
    return Clock(monkeypatch)


@pytest.fixture
def budget(clock: Clock, tmp_path: Path) -> Budget:
    """Ten seconds, of which the first process used nothing."""
    return watched(10, clock.now, tmp_path)


def watched(seconds: float, started: float, folder: Path) -> Budget:
    """A budget of children."""
    budget = Budget(seconds, started, folder)
    budget.watch()
    return budget


def test_processor_time_is_what_runs_out(budget: Budget) -> None:
    budget.observe(1, 9.0)
    assert budget.exceeded() is None
    budget.observe(2, 2.0)
    assert budget.exceeded() == "10 s of processor time"


def test_a_process_that_ended_still_counts(budget: Budget) -> None:
    budget.observe(1, 3.0)
    budget.close(1, 4.0)
    budget.observe(1, 1.0)
    assert budget.used == 5.0


def test_a_busy_machine_changes_nothing(budget: Budget, clock: Clock) -> None:
    for step in range(1, 6):
        clock.now += 15
        budget.observe(1, 0.75 * step)
        assert budget.exceeded() is None
    assert not budget.late


def test_what_stands_still_is_ended_sooner_than_what_is_slow(budget: Budget, clock: Clock) -> None:
    budget.observe(1, 3.0)
    assert budget.exceeded() is None
    clock.now += 41
    budget.observe(1, 3.1)
    assert budget.exceeded() == "40 s without work"


def test_nothing_lasts_for_ever(budget: Budget, clock: Clock) -> None:
    clock.now += 201
    budget.observe(1, 9.0)
    assert budget.exceeded() == "200 s"


def test_when_it_runs_short_only_what_is_needed_is_done(budget: Budget) -> None:
    budget.observe(1, 6.5)
    assert budget.late


def test_each_process_adds_what_it_used(tmp_path: Path) -> None:
    budget = watched(60, time.monotonic(), tmp_path)
    for slot in (1, 2):
        child = os.fork()
        if child == 0:
            budget.enter(slot)
            _work_in_a_child_and_here(budget)
            os._exit(0)
        os.waitpid(child, 0)
    assert budget.used >= 2 * 2 * 0.1


def _work_in_a_child_and_here(budget: Budget) -> None:
    if os.fork() == 0:
        _work()
        os._exit(0 if budget.used >= 0.1 else 1)
    _, status = os.wait()
    _work()
    os._exit(0 if status == 0 and budget.used >= 0.2 else 1)


def _work() -> None:
    began = time.process_time()
    while time.process_time() < began + 0.1:
        pass


def test_the_use_of_another_process_is_seen_while_it_lives() -> None:
    child = os.fork()
    if child == 0:
        _work()
        signal.pause()
    while processor_time(child) < 0.1:
        time.sleep(0.01)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    assert processor_time(child) == 0.0
