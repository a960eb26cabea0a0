"""The check without a GPU: make inputs for the interpreter, compare what comes back."""

from collections.abc import Iterator
from itertools import islice

import torch
from torch import Tensor

from kernels.contract import Case, CaseResult, Task, TensorSpec, Verdict
from kernels.contract.wire import (
    CompareAnswer,
    CompareRequest,
    HostValuesAnswer,
    HostValuesRequest,
    InputsAnswer,
    InputsRequest,
    Run,
)
from workers.measure import inputs
from workers.measure.compare import Comparison, comparer, largest_errors
from workers.measure.reference import Reference, load, torch_dtype


def make_host_values(request: HostValuesRequest) -> bytes:
    """The packed HostValuesAnswer: for each case, the buffer of each host-visible input."""
    reference = load(request.reference)
    made = (inputs.host_visible(request.task, case, reference) for case in request.task.cases)
    blobs = [buffer.numpy().tobytes() for buffers in made for buffer in buffers.values()]
    return HostValuesAnswer().pack(tuple(blobs))


def make_inputs(request: InputsRequest) -> bytes:
    """The packed InputsAnswer: for each run, the buffer of each input tensor."""
    reference = load(request.reference)
    blobs = []
    for run in request.runs:
        made = _make(request.task, run, request.seed, reference)
        blobs += [buffer.numpy().tobytes() for buffer in made.buffers.values()]
    return InputsAnswer().pack(tuple(blobs))


def compare_results(request: CompareRequest, blobs: list[bytes]) -> bytes:
    """The packed CompareAnswer; the blobs are hostile, a misfit is a wrong answer."""
    reference = load(request.reference)
    groups: dict[str, list[tuple[Run, list[bytes]]]] = {}
    for run, results in _by_run(request, blobs):
        groups.setdefault(run.case, []).append((run, results))
    cases = [
        _judge_case(request, request.task.case(name), runs, reference)
        for name, runs in groups.items()
    ]
    return CompareAnswer(cases=tuple(cases)).pack()


def _make(task: Task, run: Run, seed: int, reference: Reference) -> inputs.Inputs:
    return inputs.make(task, task.case(run.case), run.distribution, run.round, seed, reference)


def _by_run(request: CompareRequest, blobs: list[bytes]) -> Iterator[tuple[Run, list[bytes]]]:
    rest = iter(blobs)
    for run in request.runs:
        width = len(request.task.results(request.task.case(run.case)))
        yield run, list(islice(rest, width))


def _judge_case(
    request: CompareRequest, case: Case, runs: list[tuple[Run, list[bytes]]], reference: Reference
) -> CaseResult:
    specs = request.task.results(case)
    comparisons: list[Comparison] = []
    for run, results in runs:
        misfit = _misfit(specs, results)
        if misfit:
            return _wrong(case, misfit)
        arguments = _make(request.task, run, request.seed, reference).arguments
        tolerance, distribution = request.task.tolerance, run.distribution.value
        compare = comparer(reference, arguments, specs, tolerance, distribution)
        comparisons += compare(
            [_tensor(blob, spec) for blob, spec in zip(results, specs, strict=True)]
        )
    return _summarize(case, comparisons)


def _summarize(case: Case, comparisons: list[Comparison]) -> CaseResult:
    failed = next((c for c in comparisons if c.reason), None)
    return CaseResult(
        case=case.name,
        kind=case.kind,
        verdict=Verdict.CHECKED if failed is None else Verdict.WRONG_ANSWER,
        reason="" if failed is None else failed.reason,
        errors=largest_errors(comparisons),
        mismatch=None if failed is None else failed.mismatch,
    )


def _misfit(specs: tuple[TensorSpec, ...], results: list[bytes]) -> str:
    if len(results) != len(specs):
        return f"{len(results)} results came back, the task has {len(specs)}"
    for spec, blob in zip(specs, results, strict=True):
        size = spec.numel * spec.dtype.itemsize
        if len(blob) != size:
            return f"{spec.name} has {len(blob)} bytes, the task says {size}"
    return ""


def _wrong(case: Case, reason: str) -> CaseResult:
    return CaseResult(
        case=case.name, kind=case.kind, verdict=Verdict.WRONG_ANSWER, reason=reason[:500]
    )


def _tensor(blob: bytes, spec: TensorSpec) -> Tensor:
    if spec.numel == 0:
        return torch.empty(spec.shape, dtype=torch_dtype(spec.dtype))
    return torch.frombuffer(bytearray(blob), dtype=torch_dtype(spec.dtype)).view(spec.shape)
