"""What the measure server calls for each request."""

from typing import Annotated

from pydantic import Field, TypeAdapter, ValidationError

from kernels.contract import frame
from kernels.contract.bundle import first_problem
from kernels.contract.wire import AnswerRefused, CompareRequest, InputsRequest, MeasureRequest
from workers.measure import check

_REQUEST: TypeAdapter[InputsRequest | CompareRequest | MeasureRequest] = TypeAdapter(
    Annotated[InputsRequest | CompareRequest | MeasureRequest, Field(discriminator="kind")]
)


def run(request: bytes) -> bytes:
    """Answer an InputsRequest, a CompareRequest or a MeasureRequest; AnswerRefused for others."""
    try:
        header, blobs = frame.unpack(request)
        message = _REQUEST.validate_json(header)
    except frame.FrameRefused as error:
        raise AnswerRefused(str(error)) from None
    except ValidationError as error:
        raise AnswerRefused(first_problem(error)) from None
    match message:
        case InputsRequest():
            return check.make_inputs(message)
        case CompareRequest():
            return check.compare_results(message, blobs)
        case MeasureRequest():
            raise NotImplementedError
