"""Imported once by the fork server, so that each judging starts with everything loaded.

Touches no GPU: a process that has used CUDA cannot be forked.
"""

import importlib
import importlib.util

import numpy
import torch

import workers.measure.main  # noqa: F401


def with_gpu() -> bool:
    """Whether what judging on a GPU takes is installed; then it is loaded."""
    if importlib.util.find_spec("cuda") is None:
        return False
    if importlib.util.find_spec("cuda.bindings") is None:
        return False
    importlib.import_module("workers.measure.judge")
    return True


def ask_cpu() -> None:
    """Make torch look at the processor now: inside a jail /proc/cpuinfo is not there."""
    torch.rand(64).to(torch.float16).to(torch.float32).softmax(0)


def import_late_parts() -> None:
    """What numpy imports only when a median is first taken."""
    numpy.median([1.0])


ask_cpu()
import_late_parts()
with_gpu()
