"""Reads a submission from whatever a client sends: JSON, a form, or the bare source."""

import json
from collections.abc import Sequence
from email.message import Message
from typing import Any

from pydantic import ValidationError
from starlette.datastructures import UploadFile
from starlette.requests import Request

from app.errors import BadRequest, Invalid, UnsupportedMediaType
from app.schemas import SubmitRequest
from kernels.contract.bundle import first_problem

_FORMS = ("multipart/form-data", "application/x-www-form-urlencoded")
_TEXTS = ("text/x-python", "text/plain", "application/x-python")
_PART_BYTES = 1 << 20


async def submit_request(request: Request) -> SubmitRequest:
    """The submission; BadRequest, Invalid or UnsupportedMediaType."""
    kind = _media_type(request.headers.get("content-type", ""))
    if kind == "application/json":
        fields = _json(await request.body())
    elif kind in _FORMS:
        fields = await _form(request)
    elif kind in _TEXTS:
        fields = {**request.query_params, "source": _utf8(await request.body())}
        fields.pop("wait", None)
    else:
        raise UnsupportedMediaType(
            f"a submission cannot be read from {kind or 'a body without a Content-Type'}",
            "Send application/json, a form, or text/x-python with ?task= in the address.",
        )
    try:
        return SubmitRequest.model_validate(fields)
    except ValidationError as error:
        step = "Correct that field and submit again."
        if kind in _FORMS and "task" in request.query_params:
            step = "To send the source alone, say Content-Type: text/x-python."
        raise Invalid(first_problem(error), step) from None


def _media_type(header: str) -> str:
    message = Message()
    message["content-type"] = header.replace("\r", "").replace("\n", "")
    return message.get_content_type() if header else ""


def _json(body: bytes) -> dict[str, Any]:
    try:
        fields = json.loads(_utf8(body), object_pairs_hook=_unique, parse_constant=_no_constant)
    except RecursionError:
        raise BadRequest("the JSON is nested too deeply", "Send one flat object.") from None
    except ValueError as error:  # also for a number of more digits than Python reads
        raise BadRequest(
            f"the body is not JSON: {error}", 'Send an object such as {"task": …, "source": …}.'
        ) from None
    if not isinstance(fields, dict):
        raise Invalid("the body is not an object", 'Send {"task": …, "source": …}.')
    return fields


def _unique(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    fields = dict(pairs)
    if len(fields) != len(pairs):
        raise Invalid("a field is given twice", "Give every field once.")
    return fields


def _no_constant(name: str) -> None:
    raise Invalid(f"{name} is not JSON", "Send finite numbers only.")


async def _form(request: Request) -> dict[str, Any]:
    fields: dict[str, Any] = {}
    async with request.form(max_files=1, max_fields=8, max_part_size=_PART_BYTES) as form:
        for name, value in form.multi_items():
            if name in fields:
                raise Invalid("a field is given twice", "Give every field once.")
            fields[name] = await _field(value)
    return {name: value for name, value in fields.items() if value != "" or name == "source"}


async def _field(value: UploadFile | str) -> str:
    if isinstance(value, UploadFile):
        return _utf8(await value.read())
    return value.replace("\r\n", "\n")  # browsers send every line end of a form so


def _utf8(body: bytes) -> str:
    try:
        return body.decode()
    except UnicodeDecodeError:
        raise Invalid("the text is not valid UTF-8", "Save it as plain UTF-8 text.") from None
