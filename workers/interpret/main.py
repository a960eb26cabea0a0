"""What the interpret server calls: runs a submission on CPU tensors, in the jail."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from triton import knobs
from triton.runtime import driver
from triton.runtime.errors import InterpreterError

from kernels.contract import DEVICES
from kernels.contract.tensor import nested
from kernels.contract.wire import AnswerRefused, Failure, InterpretAnswer, InterpretRequest, Run
from workers.facade import DeviceDriver, Facade, Hooks
from workers.interpret import (
    bfloat16,
    dot,
    libdevice,
    loops,
    memory,
    submission,
    tensors,
    unsupported,
)
from workers.interpret.caveats import Caveats, standing
from workers.interpret.faults import Unsupported, failure_of, innermost, shown
from workers.interpret.kernels import Launcher, install_autotuner

_REASON = 500


def run(request: bytes) -> bytes:
    """Answer an InterpretRequest with the packed InterpretAnswer; AnswerRefused for others.

    Changes torch and Triton for the whole process: call it in a fork, once.
    """
    message, blobs = InterpretRequest.unpack(request)
    _check(message, blobs)
    caveats = Caveats()
    for text in standing(message.task):
        caveats.add(text)
    ended = _run_all(message, prepare(message, caveats), iter(blobs))
    answer = InterpretAnswer(
        completed=ended.completed,
        failure=ended.failure,
        left_out=ended.left_out,
        caveats=caveats.all(),
    )
    return answer.pack(tuple(ended.results))


def prepare(message: InterpretRequest, caveats: Caveats) -> Facade:
    """The facade, with everything installed that host code and kernels meet."""
    if not knobs.runtime.interpret:
        raise RuntimeError("start this process with TRITON_INTERPRET=1")
    device = DEVICES[message.device]
    addresses = memory.Memory(caveats)
    bfloat16.install()
    dot.install()
    loops.install()
    unsupported.install()
    libdevice.install(caveats)
    memory.install(addresses)
    Launcher(message.kernels, addresses).install()
    install_autotuner(message.configs, caveats)
    driver.set_active(DeviceDriver(device))
    np.seterr(all="ignore")  # a GPU does not warn of overflow either
    # torch.empty then holds NaN, so that what no kernel writes shows. The public function would
    # import torch's compiler first, for 1.5 s.
    torch._C._set_deterministic_algorithms(True, warn_only=True)
    facade = Facade(device, "cpu", _NotingHooks(caveats))
    facade.install()
    return facade


class _NotingHooks(Hooks):
    def __init__(self, caveats: Caveats) -> None:
        self._caveats = caveats

    def note(self, text: str) -> None:
        self._caveats.add(text)


@dataclass
class _Ended:
    """How the runs ended, from the first: all of them, or those before a failure."""

    completed: int = 0
    failure: Failure | None = None
    results: list[bytes] = field(default_factory=list)
    left_out: dict[int, str] = field(default_factory=dict)
    """Of completed runs that the interpreter could not run: why, by their place."""


def _run_all(message: InterpretRequest, facade: Facade, blobs: Iterator[bytes]) -> _Ended:
    ended = _Ended()
    path = submission.write(message.source)
    try:
        with facade:
            solve = submission.load(path, message.entry)
        for each in message.runs:
            try:
                ended.results += _run_once(message, each, solve, facade, blobs)
            except (InterpreterError, Unsupported) as error:
                cause = innermost(error)
                if not isinstance(cause, Unsupported):
                    raise
                ended.left_out[ended.completed] = shown(cause)[:_REASON]
            ended.completed += 1
    except BaseException as error:  # noqa: BLE001  whatever a submission raises is its failure
        ended.failure = failure_of(error, path)
    return ended


def _run_once(
    message: InterpretRequest, each: Run, solve: Any, facade: Facade, blobs: Iterator[bytes]
) -> list[bytes]:
    task, case = message.task, message.task.case(each.case)
    arguments = tensors.arguments(task, case, blobs)
    outputs = tensors.outputs(task, case)
    passed = nested(task.results(case), outputs) if outputs else []
    with facade:
        returned = solve(*nested(task.arguments(case), arguments.values), *passed)
    found = list(tensors.results(outputs or returned, task.results(case)))
    if not task.permissions.in_place:
        arguments.check_unchanged()
    return found


def _check(message: InterpretRequest, blobs: list[bytes]) -> None:
    wanted = [
        spec.nbytes
        for each in message.runs
        for spec in message.task.arguments(message.task.case(each.case))
        if hasattr(spec, "nbytes")
    ]
    if [len(blob) for blob in blobs] != wanted:
        raise AnswerRefused("the inputs do not have the sizes of the runs' tensors")
