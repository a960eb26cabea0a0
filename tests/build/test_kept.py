"""What hooks may keep of what they are told, and what is no such thing."""

import os
import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any

import pytest

from workers.build.kept import Snapshot
from workers.build.source import FILE, MODULE

SOURCE = """
import collections, functools, os
import numpy, torch

LIST, DICT, QUEUE, SET, LAST = [], {}, collections.deque(), set(), 0
TENSOR, ARRAY = torch.zeros(1, dtype=torch.int64), numpy.zeros(1, dtype=int)

class Object:
    shared = 0
    def method(self, value): self.own = value
    def __call__(self, value): Object.shared = value

thing = Object()

def to_list(value): LIST.append(value)
def to_dict(value): DICT["value"] = value
def to_queue(value): QUEUE.append(value)
def to_set(value): SET.add(value)
def to_tensor(value): TENSOR[0] = value
def to_array(value): ARRAY[0] = value
def to_environment(value): os.environ["VALUE_KEPT"] = str(value)
def to_global(value): globals()["LAST"] = value
def to_itself(value): to_itself.value = value
def through_another(value): to_list(value)
def to_nested(value): DICT.setdefault("inner", [{}])[0]["value"] = value

def closure():
    held = 0
    def hook(value):
        nonlocal held
        held = value
    return hook

to_cell = closure()
to_partial = functools.partial(lambda kept, value: kept.append(value), [])
to_method = thing.method

def nowhere(value):
    local = [value]
    local.append(value)
    return {**DICT, "value": value}
"""
KEEPING = ["to_list", "to_dict", "to_queue", "to_set", "to_tensor", "to_array", "to_environment",
           "to_global", "to_itself", "through_another", "to_nested", "to_cell", "to_partial",
           "to_method", "thing"]  # fmt: skip


@pytest.fixture
def hooks(monkeypatch: pytest.MonkeyPatch) -> dict[str, Callable[[int], Any]]:
    """The functions of a submission."""
    module = ModuleType(MODULE)
    monkeypatch.setitem(sys.modules, MODULE, module)
    monkeypatch.setenv("VALUE_KEPT", "0")
    exec(compile(SOURCE, FILE, "exec"), module.__dict__)
    return vars(module)


@pytest.mark.parametrize("name", KEEPING)
def test_what_is_kept_tells_snapshots_apart(
    hooks: dict[str, Callable[[int], Any]], name: str
) -> None:
    hook = hooks[name]
    hook(1)
    one = Snapshot([hook])
    assert one == Snapshot([hook])
    hook(2)
    assert one != Snapshot([hook])
    assert os.environ["VALUE_KEPT"] == ("2" if name == "to_environment" else "0")


def test_what_is_not_kept_does_not(hooks: dict[str, Callable[[int], Any]]) -> None:
    hook = hooks["nowhere"]
    hook(1)
    one = Snapshot([hook])
    hook(2)
    assert one == Snapshot([hook])
