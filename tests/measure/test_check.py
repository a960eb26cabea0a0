from pathlib import Path

import pytest
import torch

from kernels.contract import (
    Case,
    Cost,
    Distribution,
    DType,
    Layout,
    Parameter,
    Task,
    Tolerance,
    Verdict,
)
from kernels.contract.wire import (
    AnswerRefused,
    CompareAnswer,
    CompareRequest,
    InputsAnswer,
    InputsRequest,
    Run,
)
from workers.measure.main import run
from workers.measure.reference import ReferenceBroken, load

REFERENCE = """
def reference(x, w, factor):
    return x.double() * w.double() * factor, x.double().sum(-1)

def baseline(x, w, factor):
    return x * w * factor, x.sum(-1)

def slack(x, w, factor):
    return 0 * x.double(), x.double().abs().sum(-1) * 2.0**-20
"""


@pytest.fixture
def reference(tmp_path: Path) -> str:
    path = tmp_path / "reference.py"
    path.write_text(REFERENCE)
    return str(path)


def task() -> Task:
    values = {"N": 33, "dtype": DType.FLOAT16}
    return Task(
        name="scale",
        title="Scale",
        summary="Scale rows.",
        inputs=(
            Parameter(name="x", shape=("4", "N")),
            Parameter(name="w", shape=("N",)),
            Parameter(name="factor", value=3.0),
        ),
        outputs=(Parameter(name="y", shape=("4", "N")), Parameter(name="s", shape=("4",))),
        cases=(
            Case(name="a", kind="test", values={**values}, layouts={"x": Layout.OFFSET}),
            Case(name="b", kind="benchmark", values={**values, "N": 64}),
        ),
        cost=Cost(bytes="N"),
    )


RUNS = (
    Run(case="a", distribution=Distribution.NORMAL, round=0),
    Run(case="b", distribution=Distribution.OUTLIERS, round=1),
    Run(case="a", distribution=Distribution.TIES, round=0),
)


def honest(reference: str) -> list[bytes]:
    """What a right submission would answer, from the bytes that it is given."""
    request = InputsRequest(task=task(), reference=reference, seed=5, runs=RUNS)
    _, blobs = InputsAnswer.unpack(run(request.pack()))
    results = []
    for number, one in enumerate(RUNS):
        columns = 33 if one.case == "a" else 64
        raw = torch.frombuffer(bytearray(blobs[2 * number]), dtype=torch.float16)
        x = raw[1:] if one.case == "a" else raw
        x = x.view(4, columns).float()
        w = torch.frombuffer(bytearray(blobs[2 * number + 1]), dtype=torch.float16).float()
        results += [(x * w * 3).half(), x.sum(-1).half()]
    return [tensor.numpy().tobytes() for tensor in results]


def compare(reference: str, blobs: list[bytes]) -> CompareAnswer:
    request = CompareRequest(task=task(), reference=reference, seed=5, runs=RUNS)
    answer, rest = CompareAnswer.unpack(run(request.pack(tuple(blobs))))
    assert rest == []
    return answer


def test_right_results_are_checked(reference: str) -> None:
    cases = compare(reference, honest(reference)).cases
    assert [case.case for case in cases] == ["a", "b"]
    assert {case.verdict for case in cases} == {Verdict.CHECKED}
    assert [error.output for error in cases[0].errors] == ["y", "s"]


def test_a_wrong_result_is_found_in_its_case_and_distribution(reference: str) -> None:
    blobs = honest(reference)
    broken = bytearray(blobs[4])
    broken[10:12] = b"\x00\x7c"
    blobs[4] = bytes(broken)
    wrong, right = compare(reference, blobs).cases
    assert right.verdict is Verdict.CHECKED
    assert wrong.verdict is Verdict.WRONG_ANSWER
    assert wrong.mismatch is not None
    assert wrong.mismatch.distribution == "ties"
    assert wrong.mismatch.first_index == (0, 5)


@pytest.mark.parametrize("damage", ["short", "missing", "long"])
def test_results_of_the_wrong_size_are_wrong_answers(reference: str, damage: str) -> None:
    blobs = honest(reference)
    if damage == "missing":
        blobs = blobs[:-1]
    else:
        blobs[-1] = blobs[-1][:-1] if damage == "short" else blobs[-1] + b"x"
    case = compare(reference, blobs).cases[0]
    assert case.verdict is Verdict.WRONG_ANSWER
    assert case.reason


@pytest.mark.parametrize("request_", [b"", b"garbage", CompareAnswer(cases=()).pack()])
def test_other_requests_are_refused(request_: bytes) -> None:
    with pytest.raises(AnswerRefused):
        run(request_)


def test_a_missing_or_incomplete_reference_is_the_tasks_fault(tmp_path: Path) -> None:
    with pytest.raises(ReferenceBroken, match="no reference at"):
        load(str(tmp_path / "none.py"))
    path = tmp_path / "reference.py"
    path.write_text("def reference(x):\n    return x\n")
    with pytest.raises(ReferenceBroken, match="baseline"):
        load(str(path))


def test_a_reference_of_another_shape_is_the_tasks_fault(tmp_path: Path) -> None:
    path = tmp_path / "reference.py"
    path.write_text("def reference(x, w, f):\n    return x\nbaseline = reference\n")
    request = CompareRequest(task=task(), reference=str(path), seed=1, runs=RUNS[:1])
    with pytest.raises(ReferenceBroken, match="1 results"):
        run(request.pack((b"\0" * 264, b"\0" * 8)))


ACCEPTS = """
def accept(arguments, results):
    (x, w, factor), (y, s) = arguments, results
    return "" if y.shape == x.shape and bool((s == s).all()) else "s has NaN"

def baseline(x, w, factor):
    return x * w * factor, x.sum(-1)
"""


def test_a_task_may_judge_by_a_rule_of_its_own(tmp_path: Path, reference: str) -> None:
    path = tmp_path / "accepts.py"
    path.write_text(ACCEPTS)
    blobs = honest(reference)
    assert [case.verdict for case in compare(str(path), blobs).cases] == [Verdict.CHECKED] * 2
    blobs[3] = torch.full((4,), torch.nan, dtype=torch.float16).numpy().tobytes()
    right, wrong = compare(str(path), blobs).cases
    assert (right.verdict, wrong.verdict) == (Verdict.CHECKED, Verdict.WRONG_ANSWER)
    assert (wrong.reason, wrong.errors, wrong.mismatch) == ("s has NaN", (), None)


def test_a_rule_must_answer_in_a_sentence(tmp_path: Path, reference: str) -> None:
    path = tmp_path / "accepts.py"
    path.write_text(ACCEPTS.replace('""', "True"))
    with pytest.raises(ReferenceBroken, match="sentence"):
        compare(str(path), honest(reference))


def test_an_output_may_have_a_tolerance_of_its_own(reference: str) -> None:
    blobs = honest(reference)
    s = torch.frombuffer(bytearray(blobs[1]), dtype=torch.float16).clone()
    blobs[1] = (s * 1.01).numpy().tobytes()
    assert compare(reference, blobs).cases[0].verdict is Verdict.WRONG_ANSWER
    loose = Tolerance(ulps=100, frobenius_ratio=100)
    outputs = (task().outputs[0], task().outputs[1].model_copy(update={"tolerance": loose}))
    request = CompareRequest(
        task=task().model_copy(update={"outputs": outputs}), reference=reference, seed=5, runs=RUNS
    )
    answer, _ = CompareAnswer.unpack(run(request.pack(tuple(blobs))))
    assert answer.cases[0].verdict is Verdict.CHECKED
