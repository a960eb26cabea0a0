from dataclasses import replace

import pytest
import torch

from kernels.contract import Case, Cost, Distribution, DType, Layout, Parameter, Task, TensorSpec
from workers.measure import inputs
from workers.measure.reference import Reference, ReferenceBroken

PLAIN = Reference(lambda *a: a[0], lambda *a: a[0])


def task(dtype: str = "float16", layout: Layout = Layout.CONTIGUOUS) -> Task:
    case = Case(
        name="one",
        kind="benchmark",
        values={"M": 24, "N": 40, "dtype": DType(dtype)},
        layouts={"x": layout},
    )
    return Task(
        name="shift",
        title="Shift",
        summary="Add a number.",
        inputs=(
            Parameter(name="x", shape=("M", "N")),
            Parameter(name="w", shape=("N",)),
            Parameter(name="shift", value="M"),
        ),
        outputs=(Parameter(name="y", shape=("M", "N")),),
        cases=(case,),
        cost=Cost(bytes="2*M*N"),
    )


def make(
    distribution: Distribution,
    task_: Task | None = None,
    round_: int = 0,
    seed: int = 7,
    reference: Reference = PLAIN,
) -> inputs.Inputs:
    task_ = task_ or task()
    return inputs.make(task_, task_.cases[0], distribution, round_, seed, reference)


def first(made: inputs.Inputs) -> torch.Tensor:
    tensor = made.arguments[0]
    assert isinstance(tensor, torch.Tensor)
    return tensor


@pytest.mark.parametrize("distribution", list(Distribution))
@pytest.mark.parametrize("dtype", [d.value for d in DType])
def test_every_distribution_fits_every_type(distribution: Distribution, dtype: str) -> None:
    made = make(distribution, task(dtype))
    x = first(made)
    assert x.shape == (24, 40)
    assert str(x.dtype) == f"torch.{dtype}"
    assert x.to(torch.float64).isfinite().all()
    assert made.arguments[2] == 24


def test_the_same_seed_gives_the_same_bytes_and_any_change_gives_others() -> None:
    base = make(Distribution.NORMAL).buffers["x"]
    assert torch.equal(base, make(Distribution.NORMAL).buffers["x"])
    others = [
        make(Distribution.NORMAL, round_=1),
        make(Distribution.NORMAL, seed=8),
        make(Distribution.TINY),
    ]
    for other in others:
        assert not torch.equal(base, other.buffers["x"])


def test_distributions_are_what_they_say() -> None:
    offset = first(make(Distribution.OFFSET)).double()
    assert abs(float(offset.mean()) - 100) < 1
    assert 0 < float(first(make(Distribution.TINY)).abs().max()) < 0.01
    assert float(first(make(Distribution.OUTLIERS)).abs().max()) > 5
    assert len(set(first(make(Distribution.TIES)).flatten().tolist())) <= 9
    rows = first(make(Distribution.CONSTANT_ROWS))
    assert (rows == rows[:, :1]).all()
    assert (rows[:, 0] == 0).any()
    assert (rows[:, 0] != 0).any()


def test_only_the_leading_tensor_is_offset() -> None:
    weight = make(Distribution.OFFSET).arguments[1]
    assert isinstance(weight, torch.Tensor)
    assert abs(float(weight.double().mean())) < 5


@pytest.mark.parametrize("layout", list(Layout))
def test_values_do_not_depend_on_the_layout(layout: Layout) -> None:
    plain = first(make(Distribution.NORMAL))
    made = make(Distribution.NORMAL, task(layout=layout))
    spec = task(layout=layout).arguments(task(layout=layout).cases[0])[0]
    assert isinstance(spec, TensorSpec)
    x = first(made)
    assert torch.equal(x, plain)
    assert x.stride() == spec.strides
    assert x.storage_offset() == spec.offset
    assert made.buffers["x"].numel() == spec.nbytes


def test_gaps_between_elements_are_nan() -> None:
    made = make(Distribution.NORMAL, task(layout=Layout.PADDED))
    flat = made.buffers["x"].view(torch.float16)
    assert flat[40:48].isnan().all()
    assert int(flat.isnan().sum()) == 23 * 8


def test_a_task_may_make_its_own_inputs() -> None:
    def own(
        specs: tuple[object, ...], values: dict[str, object], distribution: str, generator: object
    ) -> list[torch.Tensor]:
        assert values["M"] == 24
        assert distribution == "normal"
        return [torch.ones(24, 40), torch.arange(40)]

    made = make(
        Distribution.NORMAL, reference=Reference(PLAIN.reference, PLAIN.baseline, None, own)
    )
    assert (first(made) == 1).all()
    assert made.arguments[1].tolist() == list(range(40))  # type: ignore[union-attr]


def test_inputs_of_the_wrong_shape_are_the_tasks_fault() -> None:
    own = Reference(
        PLAIN.reference, PLAIN.baseline, None, lambda *a: [torch.ones(1), torch.ones(1)]
    )
    with pytest.raises(ReferenceBroken, match="no tensor of shape"):
        make(Distribution.NORMAL, reference=own)


def shown(*values: int) -> Reference:
    """A reference that shows those values of w to host code."""
    return Reference(
        PLAIN.reference,
        PLAIN.baseline,
        make_host_visible=lambda specs, sizes, generator: [torch.tensor(values)],
    )


def showing() -> Task:
    x, _, shift = task().inputs
    w = Parameter(name="w", shape=("3",), dtype="int64", host_visible=True)
    return Task.model_validate({**dict(task()), "inputs": (w, x, shift)})


def test_what_host_code_may_read_is_the_same_in_every_run() -> None:
    made = [
        make(distribution, showing(), round_, seed, shown(2, 3, 5))
        for distribution in Distribution
        for round_ in (0, 1)
        for seed in (7, 8)
    ]
    assert all(first(each).tolist() == [2, 3, 5] for each in made)
    assert list(made[0].buffers) == ["w", "x"]
    secret = {tuple(each.buffers["x"].tolist()) for each in made}
    assert len(secret) == len(made)


def test_its_public_seed_is_its_own_in_each_case() -> None:
    reference = Reference(
        PLAIN.reference,
        PLAIN.baseline,
        make_host_visible=lambda specs, sizes, generator: [
            torch.randint(1 << 30, (3,), generator=generator)
        ],
    )
    task_ = showing()
    other = task_.cases[0].model_copy(update={"name": "two"})
    one = inputs.host_visible(task_, task_.cases[0], reference)["w"]
    again = inputs.host_visible(task_, task_.cases[0], reference)["w"]
    two = inputs.host_visible(task_, other, reference)["w"]
    assert torch.equal(one, again)
    assert not torch.equal(one, two)


def test_make_inputs_makes_what_is_secret() -> None:
    def make_inputs(
        specs: tuple[TensorSpec, ...], sizes: object, distribution: str, generator: object
    ) -> list[torch.Tensor]:
        assert [spec.name for spec in specs] == ["x", "shift"]
        return [torch.ones(24, 40)]

    reference = replace(shown(2, 3, 5), make_inputs=make_inputs)
    made = make(Distribution.NORMAL, showing(), reference=reference)
    assert first(made).tolist() == [2, 3, 5]
    assert made.buffers["x"].view(torch.float16).eq(1).all()


@pytest.mark.parametrize(
    ("reference", "message"),
    [
        (PLAIN, "needs make_host_visible"),
        (shown(1, 2), "make_host_visible made no tensor of shape"),
        (
            replace(PLAIN, make_host_visible=lambda specs, sizes, generator: []),
            "make_host_visible made 0 tensors",
        ),
    ],
)
def test_a_task_must_make_what_it_shows(reference: Reference, message: str) -> None:
    with pytest.raises(ReferenceBroken, match=message):
        make(Distribution.NORMAL, showing(), reference=reference)


@pytest.mark.parametrize("distribution", list(Distribution))
def test_integers_keep_to_their_range(distribution: Distribution) -> None:
    spec = TensorSpec(
        name="t", shape=(50, 8), strides=(8, 1), offset=0, dtype=DType.INT64, low=-3, high=6
    )
    values = inputs.draw(spec, distribution, torch.Generator().manual_seed(1))
    assert (int(values.min()) >= -3, int(values.max()) <= 6) == (True, True)
    assert len(set(values.view(-1).tolist())) > 1


def test_an_input_may_keep_its_distribution() -> None:
    spec = TensorSpec(
        name="x", shape=(64,), strides=(1,), offset=0, dtype=DType.FLOAT32,
        distribution=Distribution.TINY,
    )  # fmt: skip
    values = inputs.draw(spec, Distribution.OFFSET, torch.Generator().manual_seed(1))
    assert float(values.abs().max()) < 0.01


def test_lists_are_made_as_lists() -> None:
    each = (Parameter(name="a", shape=("M",), each="M"),)
    task_ = task().model_copy(update={"inputs": each, "outputs": each})
    case = task_.cases[0].model_copy(update={"values": {"M": (3, 0), "dtype": DType.FLOAT32}})
    made = inputs.make(task_, case, Distribution.NORMAL, 0, 7, PLAIN)
    (tensors,) = made.arguments
    assert isinstance(tensors, list)
    assert [tuple(tensor.shape) for tensor in tensors] == [(3,), (0,)]
    assert list(made.buffers) == ["a_0", "a_1"]
