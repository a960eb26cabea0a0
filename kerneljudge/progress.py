"""What a person sees while a submission is judged: one live line, or plain lines in a log."""

from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.text import Text

from kerneljudge.client import Client
from kerneljudge.payloads import StageEntry, Submission


def watch(client: Client, console: Console, name: str) -> Submission:
    """Show every stage as it comes; returns the finished submission."""
    with _line(console) as say:
        for item in client.follow(name):
            if isinstance(item, Submission):
                return item
            say(_words(client, name, item))
    raise AssertionError("a stream ends with the finished submission or with an error")


class _Line:
    """Says a sentence: in place in a terminal, below the last one elsewhere."""

    def __init__(self, console: Console, live: bool) -> None:
        self._console = console
        self._status = console.status("") if live else None
        self._last = ""

    def __call__(self, sentence: str) -> None:
        if self._status is not None:
            self._status.update(Text(sentence))
        elif sentence != self._last:
            self._console.print(Text(sentence), soft_wrap=True)
        self._last = sentence

    def start(self) -> None:
        if self._status is not None:
            self._status.start()

    def stop(self) -> None:
        if self._status is not None:
            self._status.stop()


@contextmanager
def _line(console: Console) -> Iterator[_Line]:
    line = _Line(console, console.is_terminal)
    line.start()
    try:
        yield line
    finally:
        line.stop()


def _words(client: Client, name: str, entry: StageEntry) -> str:
    again = f" (attempt {entry.attempt})" if entry.attempt > 1 else ""
    if entry.stage == "queued":
        position = client.submission(name).position
        place = f", number {position} in the queue" if position else ""
        return f"queued{again}{place}"
    detail = f": {entry.detail}" if entry.detail else ""
    return f"{entry.stage}{again}{detail}"
