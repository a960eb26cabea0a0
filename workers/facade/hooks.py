"""What the facade leaves to whoever runs host code."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any

Handler = Callable[[Callable[..., Any], tuple[Any, ...], dict[str, Any]], Any]
"""Answers a torch function in place of torch: gets the function, its arguments and keywords."""


class Hooks:
    """Behaviour for tensors that hold values; the build, whose tensors do not, overrides it."""

    def handlers(self) -> Mapping[Any, Handler]:
        """Torch functions to answer, before the facade's own."""
        return {}

    def modes(self) -> Sequence[AbstractContextManager[Any]]:
        """Further modes that must be on, in every thread, wherever host code runs."""
        return ()

    def note(self, text: str) -> None:
        """Told what a reader of the result should know."""

    def benchmark(self, call: Callable[[], object]) -> float | None:
        """Milliseconds that host code shall read for a call; None for a constant, and a note."""
        return None

    def begin_capture(self) -> None:
        """A CUDA graph capture starts."""

    def end_capture(self) -> object:
        """A CUDA graph capture ends; what is returned is given to `replay`."""

    def replay(self, captured: object) -> None:
        """A captured CUDA graph is launched."""
