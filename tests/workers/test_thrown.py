"""What a thread threw is told from what code raised."""

import _thread
import ctypes
import os
import queue
import signal
import sys
import threading
import time
from collections.abc import Callable

import pytest
from pydantic import BaseModel

from workers.thrown import error_classes, was_thrown


def caught(deed: Callable[[], object]) -> BaseException:
    try:
        deed()
    except BaseException as error:  # noqa: BLE001  any of them is looked at
        return error
    raise AssertionError("nothing was raised")


def throw_into(thread: int, error: type[BaseException]) -> None:
    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), ctypes.py_object(error))


def loop() -> None:
    while True:
        pass


def call() -> None:
    while True:
        time.sleep(0.001)


class Chatty(Exception):
    def __init__(self) -> None:
        super().__init__("with an argument")


@pytest.mark.parametrize("error", [KeyError, SystemExit, StopIteration])
@pytest.mark.parametrize("work", [loop, call])
def test_what_a_thread_throws_is_known(
    work: Callable[[], None], error: type[BaseException]
) -> None:
    timer = threading.Timer(0.05, throw_into, (threading.get_ident(), error))
    timer.start()
    assert was_thrown(caught(work))
    timer.join()


def test_what_fills_in_its_arguments_is_known_where_nothing_can_raise() -> None:
    timer = threading.Timer(0.05, throw_into, (threading.get_ident(), Chatty))
    timer.start()
    assert was_thrown(caught(loop))
    timer.join()


def test_what_is_of_a_class_that_came_later_is_known_unless_code_raised_it() -> None:
    known = frozenset(error_classes())

    class Later(Chatty):
        pass

    def refuse_later() -> None:
        raise Later

    timer = threading.Timer(0.05, throw_into, (threading.get_ident(), Later))
    timer.start()
    assert was_thrown(caught(call), known)
    timer.join()
    assert not was_thrown(caught(refuse_later), known)
    assert not was_thrown(caught(lambda: dict[str, int]()["ours"]), known)


def test_an_interrupt_is_known() -> None:
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # it may be ignored
    timer = threading.Timer(0.05, _thread.interrupt_main)
    timer.start()
    assert was_thrown(caught(loop))
    timer.join()
    signal.signal(signal.SIGINT, before)


class Ours(BaseModel):
    field: int


def refuse() -> None:
    raise LookupError


def assure() -> None:
    assert not sys.path


def pass_on() -> None:
    try:
        refuse()
    finally:
        time.sleep(0)


@pytest.mark.parametrize(
    "deed",
    [
        refuse,
        assure,
        pass_on,
        lambda: dict[str, int]()["ours"],
        lambda: next(iter(())),
        lambda: list[int]().pop(),
        lambda: int("x"),
        lambda: os.stat("/nowhere"),
        lambda: None.ours,  # type: ignore[attr-defined]
        lambda: 1 // 0,
        lambda: queue.SimpleQueue[int]().get_nowait(),
        lambda: Ours.model_validate_json("{}"),
    ],
)
def test_what_code_raises_is_no_throw(deed: Callable[[], object]) -> None:
    assert not was_thrown(caught(deed))
