"""Each allowed operation against torch's own, from plan data to values in memory."""

from collections.abc import Callable

import pytest
import torch
from torch import Tensor

from kernels.contract import DType, ElementType, PlanRefused, Real, TensorOp, View
from kernels.contract.ops import KNOWN
from workers.measure import ops

Arguments = tuple[object, ...]


class Store:
    """Tensors behind views: view i of the store is tensor i."""

    def __init__(self) -> None:
        self.tensors: list[Tensor] = []

    def add(self, tensor: Tensor) -> View:
        self.tensors.append(tensor)
        dtype = DType(str(tensor.dtype).removeprefix("torch."))
        return View(
            buffer=len(self.tensors) - 1,
            offset=0,
            shape=tuple(tensor.shape),
            strides=tuple(tensor.stride()),
            dtype=dtype,
        )

    def tensor(self, view: View) -> Tensor:
        return self.tensors[view.buffer]

    def encode(self, value: object) -> object:
        if isinstance(value, Tensor):
            return self.add(value)
        if isinstance(value, float):
            return Real.of(value)
        if isinstance(value, list | tuple):
            return tuple(self.encode(item) for item in value)
        return value


def a(*shape: int, seed: int = 1) -> Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed))


CASES: list[tuple[str, Arguments, dict[str, object]]] = [
    ("arange.start_step", (0, 10, 3), {}),
    ("arange.start_step", (5.0, 1.0, -0.5), {}),
    ("cat.default", ([a(2, 3), a(4, 3)],), {}),
    ("cat.default", ([a(2, 3), a(2, 1)], -1), {}),
    ("cat.default", ([torch.empty(0), a(2, 3)],), {}),
    ("clone.default", (a(3, 4),), {}),
    ("clone.default", (a(3, 4).t(),), {"memory_format": 0}),
    ("_to_copy.default", (a(3, 4) * 9,), {"dtype": torch.int32}),
    ("_to_copy.default", (a(3, 4),), {"dtype": torch.bfloat16, "non_blocking": False}),
    ("constant_pad_nd.default", (a(2, 3), [1, 2]), {}),
    ("constant_pad_nd.default", (a(2, 3), [1, 2, 0, 3], 1.5), {}),
    ("constant_pad_nd.default", (a(4, 5), [-1, 2, -2, -1], 7.0), {}),
    ("constant_pad_nd.default", (a(4, 5), [3, -4]), {}),
    ("copy_.default", (a(3, 4), a(4)), {}),
    ("copy_.default", (a(3, 4), a(3, 4, seed=2), False), {}),
    ("fill_.Scalar", (a(3), 2.5), {}),
    ("full.default", ([2, 3], 4.0), {}),
    ("full.default", ([2, 3], 4), {"dtype": torch.int64}),
    ("full_like.default", (a(2, 3), -1.0), {}),
    ("new_full.default", (a(2), [3, 1], float("-inf")), {}),
    ("new_ones.default", (a(2), [3, 1]), {}),
    ("new_zeros.default", (a(2), [3, 1]), {}),
    ("ones.default", ([4],), {}),
    ("ones_like.default", (a(4),), {}),
    ("stack.default", ([a(2, 3), a(2, 3, seed=2)],), {}),
    ("stack.default", ([a(2, 3), a(2, 3, seed=2)], -1), {}),
    ("zero_.default", (a(3),), {}),
    ("zeros.default", ([2, 2],), {}),
    ("zeros_like.default", (a(2, 2),), {}),
    ("add.Tensor", (a(2, 3), a(3)), {}),
    ("add.Tensor", (a(2, 3), 1.5), {"alpha": 2}),
    ("add_.Tensor", (a(2, 3), a(3)), {}),
    ("amax.default", (a(2, 3, 4), [1]), {}),
    ("amax.default", (a(2, 3, 4), [-1, 0], True), {}),
    ("amax.default", (a(2, 3),), {}),
    ("amin.default", (a(2, 3), [0]), {}),
    ("div.Tensor", (a(2, 3), a(2, 1)), {}),
    ("div_.Tensor", (a(2, 3), 3.0), {}),
    ("mul.Tensor", (a(2, 3), a(2, 1)), {}),
    ("mul_.Tensor", (a(2, 3), a(3)), {}),
    ("mean.default", (a(2, 3),), {}),
    ("mean.default", (a(2, 3),), {"dtype": torch.float64}),
    ("mean.dim", (a(2, 3, 4), [1, -1]), {}),
    ("mean.dim", (a(2, 3).half(), [0], True), {"dtype": torch.float32}),
    ("mean.dim", (a(2, 3), None), {}),
    ("neg.default", (a(2, 3),), {}),
    ("neg_.default", (a(2, 3),), {}),
    ("reciprocal.default", (a(2, 3),), {}),
    ("reciprocal.default", (torch.arange(1, 5),), {}),
    ("rsub.Scalar", (a(2, 3), 1), {}),
    ("rsub.Scalar", (a(2, 3).bfloat16(), 0.1), {}),
    ("rsub.Scalar", (a(2, 3), 1.5, 2), {}),
    ("rsub.Scalar", (torch.arange(4), 7), {}),
    ("sub.Tensor", (a(2, 3), a(3)), {"alpha": 3}),
    ("sub_.Tensor", (a(2, 3), 2.0), {}),
    ("sum.default", (a(2, 3),), {}),
    ("sum.default", (torch.arange(5, dtype=torch.int32),), {}),
    ("sum.dim_IntList", (a(2, 3, 4), [1, -1]), {}),
    ("sum.dim_IntList", (a(2, 3), [0], True), {"dtype": torch.float64}),
    ("sum.dim_IntList", (a(2, 3), None), {}),
]


def by_torch(name: str, arguments: Arguments, keywords: dict[str, object]) -> Tensor:
    base, overload = name.split(".")
    function: Callable[..., Tensor] = getattr(getattr(torch.ops.aten, base), overload)
    keywords = {key: value for key, value in keywords.items() if key != "memory_format"}
    copies = [value.clone() if isinstance(value, Tensor) else value for value in arguments]
    return function(*copies, **keywords)


@pytest.mark.parametrize(("name", "arguments", "keywords"), CASES)
def test_an_operation_does_what_torch_does(
    name: str, arguments: Arguments, keywords: dict[str, object]
) -> None:
    wanted = by_torch(name, arguments, keywords)
    store = Store()
    encoded = [
        store.encode(value.clone() if isinstance(value, Tensor) else value) for value in arguments
    ]
    in_place = name.split(".")[0].endswith("_")
    out = encoded[0] if in_place else store.add(torch.full(wanted.shape, 99).to(wanted.dtype))
    coded = {
        key: ElementType(dtype=DType(str(value).removeprefix("torch.")))
        if isinstance(value, torch.dtype)
        else value
        for key, value in keywords.items()
    }
    op = TensorOp(op=f"aten.{name}", arguments=tuple(encoded), keywords=coded, outputs=(out,))
    ops.bind(op, store.tensor)()
    assert isinstance(out, View)
    assert torch.equal(store.tensor(out), wanted)


def test_every_known_operation_is_tried() -> None:
    assert {f"aten.{name}" for name, _, _ in CASES} == KNOWN


@pytest.mark.parametrize(
    ("name", "arguments", "shape"),
    [
        ("cat.default", ([a(2, 3), a(4, 3)],), (5, 3)),
        ("cat.default", ([],), (5, 3)),
        ("clone.default", (a(3, 4),), (4, 3)),
        ("clone.default", (), (4, 3)),
        ("clone.default", (3,), (4, 3)),
        ("cat.default", ([1, 2],), (4, 3)),
        ("copy_.default", (a(3), a(4)), (3,)),
        ("constant_pad_nd.default", (a(3), [1]), (4,)),
        ("constant_pad_nd.default", (a(3), [-2, -2]), (0,)),
        ("arange.start_step", (0, 10, 0), (3,)),
        ("arange.start_step", (0, 10, 1), (3,)),
        ("add.Tensor", (a(3), a(4)), (3,)),
        ("add.Tensor", (a(3), a(3)), (1, 3)),
        ("sum.dim_IntList", (a(3), [5]), (3,)),
        ("stack.default", ([a(3), a(4)],), (2, 3)),
        ("full.default", ([-1], 1), (1,)),
        ("fill_.Scalar", (a(3), a(3)), (3,)),
        ("fill_.Scalar", (a(3), 10**400), (3,)),
    ],
)
def test_an_operation_that_does_not_fit_is_the_plans_fault(
    name: str, arguments: Arguments, shape: tuple[int, ...]
) -> None:
    store = Store()
    op = TensorOp(
        op=f"aten.{name}",
        arguments=tuple(store.encode(value) for value in arguments),
        outputs=(store.add(torch.zeros(shape)),),
        line=12,
    )
    with pytest.raises(PlanRefused, match=r"line 12\) does not fit"):
        ops.bind(op, store.tensor)()


def test_no_operation_changes_the_shape_of_its_place() -> None:
    store = Store()
    out = torch.zeros(6)
    view = store.add(out)
    op = TensorOp(op="aten.cat.default", arguments=((store.add(a(2)),),), outputs=(view,))
    with pytest.raises(PlanRefused):
        ops.bind(op, store.tensor)()
    assert out.shape == (6,)
