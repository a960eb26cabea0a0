"""A submission's source as a module that Python, linecache and Triton find in a file."""

import linecache
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
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
    text = Path(path).read_text(encoding="utf-8")
    module = ModuleType(NAME)
    module.__file__ = path
    sys.modules[NAME] = module
    # From its text, as the build does it: read from the file, it might name another encoding.
    linecache.cache[path] = (len(text), None, text.splitlines(keepends=True), path)
    exec(compile(text, path, "exec", dont_inherit=True), module.__dict__)
    function = callable_of(getattr(module, entry, None))
    if function is None:
        raise NoEntry(f"the source defines no function {entry!r}")
    return function
