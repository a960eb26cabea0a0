"""Reading what stands in an address; an empty field of a form means any."""

from collections.abc import Mapping
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from app.errors import Invalid, NotFound
from app.schemas import SubmissionFilter, TaskDetail
from kernels.contract import DeviceName

Model = TypeVar("Model", bound=BaseModel)
_WORDS = {
    "greater_than_equal": "must be at least {ge}",
    "less_than_equal": "must be at most {le}",
    "int_parsing": "must be a whole number",
    "string_pattern_mismatch": "is too long, or has characters that it cannot have",
    "string_too_long": "has more than {max_length} characters",
    "too_long": "has more than {max_length} entries",
    "value_error": "cannot be so: {error}",
}
"""By pydantic's type of the problem."""


def parsed(
    model: type[Model], fields: dict[str, Any], labels: Mapping[str, str] | None = None
) -> Model:
    """What a form says; Invalid names the first field that makes no sense as the page does.

    A field that `labels` leaves out is called by its own name there.
    """
    try:
        return model.model_validate(fields)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        name = str(first["loc"][0]) if first["loc"] else "form"
        label = (labels or {}).get(name) or name.replace("_", " ").capitalize()
        raise Invalid(f"“{label}” {_told(first)}", "Correct it and send again.") from None


def _told(problem: ErrorDetails) -> str:
    if problem["input"] in (None, "", [], ()):
        return "is empty"
    words, given = _WORDS.get(problem["type"], "makes no sense"), problem.get("ctx", {})
    return words.format(**given)


def parsed_cursor(text: str | None) -> str | None:
    """Where a list goes on; None for its beginning, Invalid for what is none."""
    if not text:
        return None
    if not (text.isascii() and text.isdecimal() and len(text) <= 18):
        raise Invalid("the list has no such page", "Open the first page of the list again.")
    return text


def device_of(text: str | None, task: TaskDetail) -> DeviceName:
    """The device asked for, or the task's default; NotFound if there is no such device."""
    if not text:
        return task.devices[0]
    try:
        return DeviceName(text)
    except ValueError:
        known = ", ".join(DeviceName)
        raise NotFound(f"no device is called {text!r}", f"Choose one of {known}.") from None


def filter_of(**fields: str | None) -> SubmissionFilter:
    """Which submissions a list should hold; Invalid names the field that makes no sense."""
    try:
        return SubmissionFilter.model_validate({k: v for k, v in fields.items() if v})
    except ValidationError as error:
        names = ", ".join(sorted({str(e["loc"][0]) for e in error.errors()}))
        raise Invalid(
            f"the list cannot be filtered by this {names}",
            "Clear the filter, then choose from what the form offers.",
        ) from None
