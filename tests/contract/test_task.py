"""Tasks, cases and their tensors."""

import pytest
from pydantic import ValidationError

from kernels.contract import (
    Case,
    Cost,
    DType,
    Layout,
    NumberSpec,
    Parameter,
    Task,
    TensorSpec,
)
from kernels.contract.expression import evaluate
from kernels.contract.tensor import nested
from tests.contract import examples as a


def with_layout(layout: Layout) -> TensorSpec:
    case = Case(
        name="c",
        kind="benchmark",
        values={"M": 3, "N": 5, "dtype": DType.FLOAT16},
        layouts={"x": layout},
    )
    (spec,) = a.task(cases=(case,)).arguments(case)
    assert isinstance(spec, TensorSpec)
    return spec


@pytest.mark.parametrize(
    ("layout", "strides", "offset", "nbytes"),
    [
        (Layout.CONTIGUOUS, (5, 1), 0, 30),
        (Layout.TRANSPOSED, (1, 3), 0, 30),
        (Layout.PADDED, (13, 1), 0, 62),
        (Layout.OFFSET, (5, 1), 1, 32),
    ],
)
def test_layouts(layout: Layout, strides: tuple[int, ...], offset: int, nbytes: int) -> None:
    spec = with_layout(layout)
    assert (spec.strides, spec.offset, spec.nbytes) == (strides, offset, nbytes)


def test_cost_follows_the_element_type() -> None:
    task = a.task()
    assert task.bytes(task.case("tiny")) == 2 * 6 * 4
    assert task.bytes(task.case("wide")) == 2 * 32 * 2


def test_numbers_are_passed_between_tensors() -> None:
    task = a.task(inputs=(*a.task().inputs, Parameter(name="k", value="M + 1")))
    assert task.arguments(task.case("tiny"))[1] == NumberSpec(name="k", value=3)


def test_an_unknown_case() -> None:
    with pytest.raises(KeyError, match="no case 'huge'"):
        a.task().case("huge")


def shown(**changes: object) -> Parameter:
    """A parameter whose values host code may read."""
    given = {"name": "x", "shape": ("M",), "dtype": "int32", "host_visible": True}
    return Parameter.model_validate(given | changes)


def test_what_host_code_may_read_is_told_by_its_tensor() -> None:
    task = a.task(inputs=(*a.task().inputs, shown(name="ends")))
    (spec,) = task.host_visible(task.case("tiny"))
    assert (spec.name, spec.shape, spec.dtype) == ("ends", (2,), DType.INT32)


def test_a_fraction_is_passed_as_it_is() -> None:
    case = Case(name="c", kind="benchmark", values={"M": 3, "N": 5, "p": 0.25, "dtype": "float32"})
    task = a.task(inputs=(*a.task().inputs, Parameter(name="p", value="p")), cases=(case,))
    assert task.arguments(case)[1] == NumberSpec(name="p", value=0.25)
    assert Case.model_validate_json(case.model_dump_json()) == case


def grouped(**values: object) -> Task:
    sizes = {"M": (4, 0, 7), "K": (2, 3, 1), "N": 5, "dtype": "float16"} | values
    return a.task(
        inputs=(
            Parameter(name="a", shape=("M", "K"), each="M"),
            Parameter(name="w", shape=("N",)),
        ),
        outputs=(Parameter(name="c", shape=("M", "N"), each="M"),),
        cases=(Case(name="c", kind="benchmark", values=sizes),),
        cost=Cost(flops="2*M*N*K", bytes="M*K*dtype_bytes + min(M, 1)*N"),
    )


def test_lists_have_a_tensor_for_each_size() -> None:
    task = grouped()
    case = task.cases[0]
    found = task.arguments(case)
    assert [spec.name for spec in found] == ["a_0", "a_1", "a_2", "w"]
    assert [spec.shape for spec in task.tensors(case)] == [
        (4, 2), (0, 3), (7, 1), (5,), (4, 5), (0, 5), (7, 5)
    ]  # fmt: skip
    assert nested(found, "pqrs") == [["p", "q", "r"], "s"]
    assert task.flops(case) == 2 * 5 * (4 * 2 + 7)
    assert task.bytes(case) == 2 * (4 * 2 + 7) + 2 * 5


@pytest.mark.parametrize(
    ("values", "message"),
    [({"K": (1, 2)}, "differ in length"), ({"M": 4, "K": 2}, "list of sizes"), ({"M": ()}, "M")],
)
def test_lists_of_sizes_must_fit(values: dict[str, object], message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        grouped(**values)


def test_integers_may_have_a_range() -> None:
    labels = Parameter(name="t", shape=("M",), dtype="int64", low="0", high="N - 1")
    task = a.task(inputs=(labels,))
    (spec,) = task.arguments(task.case("wide"))
    assert isinstance(spec, TensorSpec)
    assert (spec.low, spec.high) == (0, 7)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"inputs": ({"name": "x", "shape": ("M",), "low": "0"},)}, "both low and high"),
        ({"inputs": ({"name": "x", "shape": ("M",), "low": "0", "high": "9"},)}, "no integers"),
        ({"cases": (a.task().cases[0],)}, "no benchmark case"),
        ({"cases": a.task().cases * 2}, "share a name"),
        ({"outputs": (Parameter(name="y", shape=("K",)),)}, "unknown name 'K'"),
        ({"outputs": (Parameter(name="y", shape=("M-9",)),)}, "negative size"),
        ({"outputs": (Parameter(name="y", shape=("M",), dtype="float12"),)}, "float12"),
        ({"outputs": (Parameter(name="y", shape=("M", "1073741824")),)}, "2147483648 elements"),
        ({"inputs": ({"name": "x"},)}, "either a shape"),
        ({"inputs": (shown(dtype="float16"),)}, "not of integers"),
        ({"inputs": (shown(dtype="bool"),)}, "not of integers"),
        ({"inputs": (shown(shape=("65537",)),)}, "more than 65536 elements"),
        ({"inputs": ({"name": "x", "value": 1, "host_visible": True},)}, "sees every number"),
        ({"outputs": (shown(name="y"),)}, "only inputs can be host_visible"),
    ],
)
def test_inconsistent_tasks_are_refused(changes: dict[str, object], message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        a.task(**changes)


def test_expressions() -> None:
    assert evaluate("2*M*N // 3 % 7 - (1 + M)", {"M": 4, "N": 5}) == 40 // 3 % 7 - 5
    assert evaluate("min(M, 3) + max(M, N)", {"M": 4, "N": 5}) == 8


@pytest.mark.parametrize(
    "text",
    [
        "__import__('os')",
        "M()",
        "min(M)",
        "abs(M)",
        "1/2",
        "2**99",
        "M if M else 1",
        "M//0",
        "(",
        "x",
        "1.5",
    ],
)
def test_expressions_hold_integers_only(text: str) -> None:
    with pytest.raises(ValueError, match=r"evaluate|only integers|unknown name"):
        evaluate(text, {"M": 1})
