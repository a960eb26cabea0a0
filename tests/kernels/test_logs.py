"""Lines for people and for machines, and what they are about."""

import json
import logging
import sys

from kernels.logs import JsonLines, TextLines, about


def record(message: str, *arguments: object, **more: object) -> logging.LogRecord:
    made = logging.LogRecord("a.b", logging.WARNING, "f", 1, message, arguments, None)
    for name, value in more.items():
        setattr(made, name, value)
    return made


def test_a_json_line_is_one_line_whatever_was_said() -> None:
    with about(request="r1"), about(submission="s1"):
        line = JsonLines().format(record('said "%s"', "two\nlines", facts={"status": "200"}))
    assert "\n" not in line
    fields = json.loads(line)
    assert fields.pop("time").endswith("+00:00")
    assert fields == {
        "level": "WARNING", "logger": "a.b", "message": 'said "two\nlines"',
        "request": "r1", "submission": "s1", "status": "200",
    }  # fmt: skip


def test_an_exception_is_in_the_line() -> None:
    made = record("failed")
    try:
        raise ValueError("why")
    except ValueError:
        made.exc_info = sys.exc_info()
    assert "ValueError: why" in json.loads(JsonLines().format(made))["exception"]


def test_a_line_for_people_ends_with_what_it_is_about() -> None:
    with about(submission="s1"):
        assert TextLines().format(record("hello")).endswith("WARNING a.b hello [submission=s1]")
    assert TextLines().format(record("hello")).endswith("WARNING a.b hello")
