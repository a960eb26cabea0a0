"""Reading what stands in an address; an empty field of a form means any."""

from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from app.errors import Invalid, NotFound
from app.schemas import SubmissionFilter, TaskDetail
from kernels.contract import DeviceName

Model = TypeVar("Model", bound=BaseModel)


def parsed(model: type[Model], fields: dict[str, Any]) -> Model:
    """What a form says; Invalid names the fields that make no sense."""
    try:
        return model.model_validate(fields)
    except ValidationError as error:
        names = ", ".join(sorted({str(e["loc"][0]) for e in error.errors() if e["loc"]}))
        wrong = names.replace("_", " ") or "form"
        raise Invalid(f"the {wrong} makes no sense", "Correct it and send again.") from None


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
