"""Imported once by the fork server, so that each judging starts with everything loaded.

Touches no GPU: a process that has used CUDA cannot be forked.
"""

import importlib
import importlib.util

import workers.measure.main  # noqa: F401


def with_gpu() -> bool:
    """Whether what judging on a GPU takes is installed; then it is loaded."""
    if importlib.util.find_spec("cuda") is None:
        return False
    if importlib.util.find_spec("cuda.bindings") is None:
        return False
    importlib.import_module("workers.measure.judge")
    return True


with_gpu()
