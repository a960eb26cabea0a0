"""What the measure server calls for each request."""

import importlib
from typing import Annotated

from pydantic import Field, TypeAdapter, ValidationError

from kernels.contract import frame
from kernels.contract.bundle import first_problem
from kernels.contract.wire import (
    AnswerRefused,
    CeilingsAnswer,
    CeilingsRequest,
    CompareRequest,
    HostValuesRequest,
    InputsRequest,
    MeasureAnswer,
    MeasureRequest,
    ProbeAnswer,
    ProbeRequest,
)
from workers.measure import check

Request = (
    HostValuesRequest
    | InputsRequest
    | CompareRequest
    | ProbeRequest
    | CeilingsRequest
    | MeasureRequest
)

_REQUEST: TypeAdapter[Request] = TypeAdapter(Annotated[Request, Field(discriminator="kind")])


def run(request: bytes) -> bytes:
    """Answer any request to `measure`; AnswerRefused for what is none."""
    try:
        header, blobs = frame.unpack(request)
        message = _REQUEST.validate_json(header)
    except frame.FrameRefused as error:
        raise AnswerRefused(str(error)) from None
    except ValidationError as error:
        raise AnswerRefused(first_problem(error)) from None
    match message:
        case HostValuesRequest():
            return check.make_host_values(message)
        case InputsRequest():
            return check.make_inputs(message)
        case CompareRequest():
            return check.compare_results(message, blobs)
        case ProbeRequest():
            canary = importlib.import_module("workers.measure.canary")
            return ProbeAnswer(problem=canary.problem()).pack()
        case CeilingsRequest():
            ceilings = importlib.import_module("workers.measure.ceilings")
            return CeilingsAnswer(ceilings=ceilings.measure(message.device)).pack()
        case MeasureRequest():
            # Only where there is a GPU are the driver's bindings installed.
            judge = importlib.import_module("workers.measure.judge")
            answer: MeasureAnswer = judge.judge(message, blobs[0] if blobs else b"")
            return answer.pack()
