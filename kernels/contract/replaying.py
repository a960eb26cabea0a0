"""What a replay under a tool is asked for, and how it says what it does."""

from typing import Literal

from pydantic import Field

from kernels.contract import limits
from kernels.contract._model import Name, ShortText
from kernels.contract.device import DeviceName
from kernels.contract.task import Task
from kernels.contract.wire import Message, Seed

MARK = "kerneljudge:"
"""Begins each line in which a replay says what it does."""


class ReplayRequest(Message):
    """Run each case once; blob 0 is the packed Bundle."""

    kind: Literal["replay"] = "replay"
    task: Task
    reference: ShortText
    """Path of the task's reference.py."""
    device: DeviceName
    seed: Seed
    cases: tuple[Name, ...] = Field(max_length=limits.CASES)
    configs: dict[Name, dict[ShortText, ShortText]] = {}
    """The configuration to take, by case and tuned kernel."""
