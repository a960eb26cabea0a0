"""How both programs log: lines for people, or a JSON object each for machines.

What is being worked on (a request, a submission) is put into every line that is logged meanwhile.
"""

import json
import logging
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import UTC, datetime
from types import MappingProxyType
from typing import Literal

LogFormat = Literal["text", "json"]
_about: ContextVar[Mapping[str, str]] = ContextVar("about", default=MappingProxyType({}))


@contextmanager
def about(**facts: str) -> Iterator[None]:
    """Put facts into every line that this thread or task logs in the block."""
    token = _about.set({**_about.get(), **facts})
    try:
        yield
    finally:
        _about.reset(token)


def configure(form: LogFormat) -> None:
    """Log to standard error from level INFO on."""
    handler = logging.StreamHandler()
    handler.setFormatter(JsonLines() if form == "json" else TextLines())
    logging.basicConfig(level=logging.INFO, handlers=[handler], force=True)


class TextLines(logging.Formatter):
    """Time, level, logger, message, and in brackets what it is about."""

    def __init__(self) -> None:
        super().__init__("%(asctime)s %(levelname)s %(name)s %(message)s")

    def formatMessage(self, record: logging.LogRecord) -> str:
        """One line; what belongs to it follows the message."""
        facts = " ".join(f"{name}={value}" for name, value in _facts(record).items())
        line = super().formatMessage(record)
        return f"{line} [{facts}]" if facts else line


class JsonLines(logging.Formatter):
    """One JSON object a line, whatever the message holds."""

    def format(self, record: logging.LogRecord) -> str:
        """The record."""
        fields = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname,
            "logger": record.name,
            "message": record.getMessage(),
            **_facts(record),
        }
        if record.exc_info:
            fields["exception"] = self.formatException(record.exc_info)
        return json.dumps(fields, ensure_ascii=False)


def _facts(record: logging.LogRecord) -> dict[str, str]:
    return {**_about.get(), **getattr(record, "facts", {})}
