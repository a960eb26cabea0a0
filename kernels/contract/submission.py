"""What a worker is given: one attempt at judging one submission."""

from typing import Annotated

from pydantic import Field, StringConstraints, field_validator

from kernels.contract import limits
from kernels.contract._model import Identifier, Model, Name
from kernels.contract.device import DeviceName

SubmissionId = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_-]{1,64}$")]


class Submission(Model):
    """A user's source for a task and a device, as the build queue carries it."""

    id: SubmissionId
    attempt: int = Field(ge=1, le=100)
    """Counts from 1; raised each time the judge starts over."""
    task: Name
    task_version: int = Field(ge=1)
    device: DeviceName
    """GPU model it is built for."""
    measured: bool
    """Whether a GPU of that model serves this installation; otherwise it is checked."""
    entry: Identifier
    """Function that is called."""
    source: Annotated[str, StringConstraints(min_length=1)]

    @field_validator("source")
    @classmethod
    def _bounded(cls, source: str) -> str:
        check_source(source)
        return source


def check_source(source: str) -> None:
    """ValueError, with what to do, for a source that no worker would take."""
    if "\0" in source:
        raise ValueError("the source contains a NUL character: save it as plain UTF-8 text")
    try:
        size = len(source.encode())
    except UnicodeEncodeError:
        raise ValueError("the source is not valid UTF-8: save it as plain UTF-8 text") from None
    if size > limits.SOURCE_BYTES:
        raise ValueError(
            f"the source has {size} bytes, the limit is {limits.SOURCE_BYTES}: "
            "remove what the kernel does not need"
        )
