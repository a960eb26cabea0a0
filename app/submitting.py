"""Taking a submission in: what is checked before it is stored."""

import hashlib
import json
import secrets

from pydantic import ValidationError

from app.errors import Invalid, TooLarge
from app.schemas import SubmitRequest
from kernels.contract import DeviceName, Submission, Task, check_source, limits
from kernels.contract.bundle import first_problem

DEFAULT_DEVICE = DeviceName.H200
"""Built for where no GPU was ever seen."""


def accept(request: SubmitRequest, task: Task, measured: tuple[DeviceName, ...]) -> Submission:
    """The first attempt at a request; `measured` are the devices with a measurer, best first."""
    _check(request.source)
    device = request.device or default_device(measured)
    try:
        return Submission(
            id=secrets.token_hex(8),
            attempt=1,
            task=task.name,
            task_version=task.version,
            device=device,
            measured=device in measured and not request.check_only,
            entry=request.entry or task.entry,
            source=request.source,
        )
    except ValidationError as error:
        raise Invalid(first_problem(error), "Correct that field and submit again.") from None


def default_device(measured: tuple[DeviceName, ...]) -> DeviceName:
    """The device of a submission that names none."""
    return measured[0] if measured else DEFAULT_DEVICE


def digest(request: SubmitRequest) -> str:
    """What tells two requests with one idempotency key apart."""
    fields: list[object] = [request.task, request.source, request.device, request.entry]
    if request.label is not None:
        fields.append(request.label)
    if request.contest is not None:
        fields.append({"contest": request.contest})
    if request.check_only:
        fields.append({"check_only": True})
    return hashlib.sha256(json.dumps(fields).encode()).hexdigest()


def _check(source: str) -> None:
    if not source.strip():
        raise Invalid("the source is empty", "Start from the task's starter.")
    if len(source) > limits.SOURCE_BYTES or len(_utf8(source)) > limits.SOURCE_BYTES:
        raise TooLarge(
            f"the source is larger than {limits.SOURCE_BYTES >> 10} KiB",
            "Remove what the kernel does not need.",
        )
    try:
        check_source(source)
    except ValueError as error:
        raise Invalid(str(error), "Save the file as plain UTF-8 text and submit again.") from None


def _utf8(source: str) -> bytes:
    return source.encode(errors="surrogatepass")
