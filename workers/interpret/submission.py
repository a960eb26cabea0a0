"""A submission's source as a module that Python, linecache and Triton find in a file."""

import importlib.util
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from workers.facade.entry import callable_of
from workers.interpret.faults import NoEntry

NAME = "submission"


def write(source: str) -> str:
    """The path of a fresh file with the source in it."""
    path = Path(tempfile.mkdtemp()) / f"{NAME}.py"
    path.write_text(source, encoding="utf-8")
    return str(path)


def load(path: str, entry: str) -> Callable[..., Any]:
    """The entry function of the module in a file; whatever the module raises comes through."""
    spec = importlib.util.spec_from_file_location(NAME, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[NAME] = module
    spec.loader.exec_module(module)
    function = callable_of(getattr(module, entry, None))
    if function is None:
        raise NoEntry(f"the source defines no function {entry!r}")
    return function
