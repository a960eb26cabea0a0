"""Loops that must not end are started again when they do."""

import threading

import pytest

from app.background import Background


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_a_loop_that_dies_is_started_again() -> None:
    again = threading.Event()
    runs: list[int] = []

    def loop(stop: threading.Event) -> None:
        runs.append(1)
        if len(runs) == 1:
            raise KeyError("a mistake of ours")
        again.set()
        stop.wait()

    background = Background({"loop": loop}, lambda: None)
    background.start()
    assert again.wait(30)
    background.stop()
    assert len(runs) == 2


def test_stopping_waits_for_every_loop() -> None:
    ended: list[str] = []

    def loop(stop: threading.Event) -> None:
        stop.wait()
        ended.append("loop")

    background = Background({"loop": loop}, lambda: None)
    background.start()
    background.stop()
    assert ended == ["loop"]
