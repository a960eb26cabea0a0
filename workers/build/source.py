"""The submission as a file, a module and a function."""

import io
import linecache
import os
import sys
from collections.abc import Callable
from pathlib import Path
from types import CodeType, FrameType, ModuleType, TracebackType
from typing import Any

FILE = "submission.py"
MODULE = "submission"


class SubmissionRaised(Exception):
    """Submitted code ended with an exception; `error` is the exception itself."""

    def __init__(self, error: BaseException) -> None:
        super().__init__()  # the object's own words may raise
        self.error = error


class Source:
    """A submission in a real file, so that Triton, inspect and tracebacks find its lines.

    The file has a bare name and no age: both end in the line tables of every cubin, and equal
    submissions shall give equal plans.
    """

    def __init__(self, text: str, folder: Path) -> None:
        self.text = text
        self.path = folder / FILE
        self.path.write_text(text, encoding="utf-8", newline="")
        os.utime(self.path, (0, 0))
        # As Python counts lines: only at line ends, unlike str.splitlines.
        self.lines = io.StringIO(text, newline=None).readlines()
        linecache.cache[FILE] = (len(text), None, self.lines, FILE)

    def execute(self) -> ModuleType:
        """The module; SubmissionRaised for whatever its code raises, a syntax error included."""
        module = ModuleType(MODULE)
        module.__file__ = str(self.path)
        sys.modules[MODULE] = module
        code = self.call(lambda: compile(self.text, FILE, "exec", dont_inherit=True))
        self.call(lambda: _execute(code, module))
        return module

    def call(self, function: Callable[[], Any]) -> Any:
        """What submitted code returns; SubmissionRaised for whatever it raises."""
        try:
            return function()
        except BaseException as error:  # noqa: BLE001  the one door to submitted code: all it raises is its answer
            raise SubmissionRaised(error) from None

    def watching_returns(self, function: Callable[[], Any], seen: Callable[[int], None]) -> None:
        """Call a function, and tell the line of each return within the submission, its own last."""

        def note(frame: FrameType, event: str, _: object) -> None:
            if event == "return" and frame.f_code.co_filename == FILE:
                seen(frame.f_lineno)

        sys.setprofile(note)
        try:
            function()
        finally:
            sys.setprofile(None)

    def line(self) -> int | None:
        """Line that is being run: of the innermost frame in the submission."""
        frame: FrameType | None = sys._getframe(1)
        while frame is not None:
            if frame.f_code.co_filename == FILE:
                return frame.f_lineno
            frame = frame.f_back
        return None

    def line_of(self, trace: TracebackType | None) -> int | None:
        """Innermost line of the submission in a traceback."""
        line = None
        while trace is not None:
            if trace.tb_frame.f_code.co_filename == FILE:
                line = trace.tb_lineno
            trace = trace.tb_next
        return line


def _execute(code: CodeType, module: ModuleType) -> None:
    exec(code, module.__dict__)
