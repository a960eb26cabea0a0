from typing import Any

import pytest

from kernels.contract import (
    Bundle,
    CasePlan,
    DeviceName,
    DType,
    PlanRefused,
    Real,
    Task,
    TensorOp,
)
from kernels.contract.wire import MeasureAnswer, MeasureRequest
from tests.measure import plans
from workers.measure.loader import load


@pytest.fixture(scope="module")
def bundle() -> Bundle:
    return Bundle.unpack(plans.built(plans.DOUBLE))


def changed(bundle: Bundle, **changes: Any) -> bytes:
    """The bundle with other fields in the plan of its first case."""
    first, *rest = bundle.plan.cases
    case = CasePlan.model_validate({**dict(first), **changes})
    plan = bundle.plan.model_copy(update={"cases": (case, *rest)})
    return bundle.model_copy(update={"plan": plan}).pack()


def refused(data: bytes, task: Task | None = None, device: DeviceName = DeviceName.H200) -> str:
    with pytest.raises(PlanRefused) as error:
        load(data, task or plans.task(), device)
    return str(error.value)


def test_a_plan_for_the_task_is_taken(bundle: Bundle) -> None:
    loaded = load(bundle.pack(), plans.task(), DeviceName.H200)
    assert [case.case for case in loaded.plan.cases] == ["ragged", "large"]


def test_a_plan_for_another_gpu_is_refused(bundle: Bundle) -> None:
    assert "not H100" in refused(bundle.pack(), device=DeviceName.H100)


def test_a_plan_that_leaves_out_a_case_is_refused(bundle: Bundle) -> None:
    plan = bundle.plan.model_copy(update={"cases": bundle.plan.cases[:1]})
    assert "leaves out" in refused(bundle.model_copy(update={"plan": plan}).pack())


def test_inputs_must_be_the_tasks(bundle: Bundle) -> None:
    x, y = bundle.plan.cases[0].buffers
    renamed = x.model_copy(update={"name": "w"})
    assert "input 'w'" in refused(changed(bundle, buffers=(renamed, y)))
    larger = x.model_copy(update={"nbytes": x.nbytes + 4})
    assert "the task says" in refused(changed(bundle, buffers=(larger, y)))
    assert "two of it" in refused(changed(bundle, buffers=(x, y, x)))


def test_results_must_have_the_tasks_shape_and_type(bundle: Bundle) -> None:
    (view,) = bundle.plan.cases[0].outputs
    turned = view.model_copy(update={"shape": (129, 7), "strides": (7, 1)})
    assert "shape (129, 7)" in refused(changed(bundle, outputs=(turned,)))
    other = view.model_copy(update={"dtype": DType.INT32})
    assert "int32" in refused(changed(bundle, outputs=(other,)))
    assert "2 results" in refused(changed(bundle, outputs=(view, view)))


def test_arithmetic_that_the_task_does_not_allow_is_refused(bundle: Bundle) -> None:
    case = bundle.plan.cases[0]
    (view,) = case.outputs
    op = TensorOp(op="aten.mul.Tensor", arguments=(view, Real.of(2.0)), outputs=(view,))
    assert "aten.mul" in refused(changed(bundle, steps=(*case.steps, op)))


@pytest.mark.parametrize("cut", [0, 10, 500])
def test_broken_bytes_are_refused(bundle: Bundle, cut: int) -> None:
    refused(bundle.pack()[:cut])


def test_a_plan_that_is_refused_gets_a_verdict_without_a_gpu() -> None:
    pytest.importorskip("cuda.bindings")
    from workers.measure.main import run

    request = MeasureRequest(
        task=plans.task(), reference="none", device=DeviceName.H200, seed=1, seconds=10
    )
    answer, _ = MeasureAnswer.unpack(run(request.pack((b"garbage",))))
    assert answer.failure is not None
    assert answer.failure.verdict == "rejected"
