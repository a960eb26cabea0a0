"""The rule must let honest rounding pass and catch the least dropped term."""

import math
from pathlib import Path

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from kernels.contract import Distribution, DType, TensorSpec, Tolerance
from workers.measure.compare import Comparison, compare_tensor, error_map, relative_error
from workers.measure.inputs import draw
from workers.measure.reference import Expected, Reference, load, torch_dtype

TASKS = Path(__file__).parents[2] / "kernels/tasks"
MATMUL = load(str(TASKS / "matmul/reference.py"))
SOFTMAX = load(str(TASKS / "softmax/reference.py"))
HALVES = [DType.FLOAT16, DType.BFLOAT16]
FLOATS = [DType.FLOAT32, *HALVES]


def spec(shape: tuple[int, ...], dtype: DType, name: str = "y") -> TensorSpec:
    strides = tuple(math.prod(shape[axis + 1 :]) for axis in range(len(shape)))
    return TensorSpec(name=name, shape=shape, strides=strides, offset=0, dtype=dtype)


def judge(
    reference: Reference, arguments: list[Tensor], got: Tensor, tolerance: Tolerance | None = None
) -> Comparison:
    names = {str(torch_dtype(dtype)): dtype for dtype in DType}
    wanted = spec(tuple(got.shape), names[str(got.dtype)])
    (expected,) = reference.expect(arguments, (wanted,))
    return compare_tensor(wanted, got, expected, tolerance or Tolerance(), "normal")


def against(got: Tensor, reference: Tensor, dtype: DType = DType.FLOAT32) -> Comparison:
    expected = Expected(reference, reference.to(torch_dtype(dtype)))
    wanted = spec(tuple(got.shape), dtype)
    return compare_tensor(wanted, got.to(torch_dtype(dtype)), expected, Tolerance(), "normal")


def values(
    shape: tuple[int, ...], dtype: DType, seed: int, kind: Distribution = Distribution.NORMAL
) -> Tensor:
    generator = torch.Generator().manual_seed(seed)
    return draw(spec(shape, dtype), kind, generator).to(torch_dtype(dtype))


def matmul_in_blocks(a: Tensor, b: Tensor, block: int, dtype: torch.dtype) -> Tensor:
    """As an honest kernel sums: tile by tile along k, in float32."""
    total = torch.zeros(a.shape[0], b.shape[1])
    for start in range(0, a.shape[1], block):
        total += a[:, start : start + block].float() @ b[start : start + block].float()
    return total.to(dtype)


@pytest.mark.parametrize("dtype", HALVES)
@pytest.mark.parametrize("kind", [k for k in Distribution if k is not Distribution.OFFSET])
@pytest.mark.parametrize(("depth", "block"), [(64, 16), (300, 32), (2048, 128)])
def test_an_honest_matmul_passes(dtype: DType, kind: Distribution, depth: int, block: int) -> None:
    a, b = values((48, depth), dtype, 1, kind), values((depth, 40), dtype, 2, kind)
    found = judge(MATMUL, [a, b], matmul_in_blocks(a, b, block, a.dtype))
    assert found.mismatch is None, found.reason


@pytest.mark.parametrize("kind", [k for k in Distribution if k is not Distribution.OFFSET])
def test_a_long_sum_in_one_accumulator_passes(kind: Distribution) -> None:
    depth = 32768
    a, b = values((64, depth), DType.FLOAT16, 1, kind), values((depth, 64), DType.FLOAT16, 2, kind)
    found = judge(MATMUL, [a, b], truncating_matmul(a, b))
    assert found.mismatch is None, found.reason


def truncating_matmul(a: Tensor, b: Tensor) -> Tensor:
    """As a tensor core sums: 16 terms at a time, the running sum cut off instead of rounded."""
    total = torch.zeros(a.shape[0], b.shape[1])
    for start in range(0, a.shape[1], 16):
        exact = total.double() + a[:, start : start + 16].double() @ b[start : start + 16].double()
        total = exact.float()
        total = torch.where(
            total.double().abs() > exact.abs(), total.nextafter(torch.zeros(())), total
        )
    return total.to(a.dtype)


@pytest.mark.parametrize("kind", [Distribution.NORMAL, Distribution.OUTLIERS])
@pytest.mark.parametrize("seed", range(3))
def test_a_long_sum_that_loses_a_block_is_caught(kind: Distribution, seed: int) -> None:
    a = values((64, 32768), DType.FLOAT16, 2 * seed, kind)
    b = values((32768, 64), DType.FLOAT16, 2 * seed + 1, kind)
    short = a[:, :-64].float() @ b[:-64].float()
    assert judge(MATMUL, [a, b], short.to(a.dtype)).mismatch is not None


@pytest.mark.parametrize("dtype", HALVES)
@pytest.mark.parametrize("depth", [64, 512, 2048, 8192])
def test_a_matmul_that_drops_one_term_is_caught(dtype: DType, depth: int) -> None:
    a, b = values((64, depth), dtype, 1), values((depth, 64), dtype, 2)
    short = (a[:, :-1].float() @ b[:-1].float()).to(a.dtype)
    assert judge(MATMUL, [a, b], short).mismatch is not None


@pytest.mark.parametrize("depth", [256, 2048])
def test_a_matmul_that_sums_in_bfloat16_is_caught(depth: int) -> None:
    a, b = values((64, depth), DType.BFLOAT16, 1), values((depth, 64), DType.BFLOAT16, 2)
    total = torch.zeros(64, 64, dtype=torch.bfloat16)
    for start in range(0, depth, 16):
        total += a[:, start : start + 16] @ b[start : start + 16]
    assert judge(MATMUL, [a, b], total).mismatch is not None


def test_a_matmul_in_fp8_is_caught() -> None:
    a, b = values((64, 256), DType.FLOAT16, 1), values((256, 64), DType.FLOAT16, 2)
    low = a.to(torch.float8_e4m3fn).float() @ b.to(torch.float8_e4m3fn).float()
    assert judge(MATMUL, [a, b], low.half()).mismatch is not None


@pytest.mark.parametrize("dtype", HALVES)
def test_one_bad_element_is_caught_and_placed(dtype: DType) -> None:
    a, b = values((64, 512), dtype, 1), values((512, 96), dtype, 2)
    got = matmul_in_blocks(a, b, 64, a.dtype)
    got[33, 70] += 0.05 * got.float().std().item() + 4 * got[33, 70].abs() * 2**-7
    mismatch = judge(MATMUL, [a, b], got).mismatch
    assert mismatch is not None
    assert (mismatch.count, mismatch.first_index, mismatch.worst_index) == (1, (33, 70), (33, 70))
    assert sum(map(sum, mismatch.error_map)) == 1
    assert mismatch.error_map[16][23] == 1


def _exp(z: Tensor) -> Tensor:
    return torch.exp2(z * math.log2(math.e))


def softmax_in_blocks(x: Tensor, block: int, scaled_first: bool = False) -> Tensor:
    """Online softmax over blocks of columns in float32, with exp2, as kernels do it."""
    z = x.float() * math.log2(math.e) if scaled_first else x.float()
    power = torch.exp2 if scaled_first else _exp
    top = torch.full((x.shape[0], 1), -math.inf)
    total = torch.zeros(x.shape[0], 1)
    for start in range(0, x.shape[1], block):
        part = z[:, start : start + block]
        new = torch.maximum(top, part.amax(1, keepdim=True))
        total = total * power(top - new) + power(part - new).sum(1, keepdim=True)
        top = new
    return (power(z - top) * (1 / total)).to(x.dtype)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("kind", list(Distribution))
@pytest.mark.parametrize("columns", [1, 127, 1000, 5000])
def test_an_honest_softmax_passes(dtype: DType, kind: Distribution, columns: int) -> None:
    x = values((9, columns), dtype, 3, kind)
    found = judge(SOFTMAX, [x], softmax_in_blocks(x, 512))
    assert found.mismatch is None, found.reason


@pytest.mark.parametrize("scaled_first", [False, True])
@pytest.mark.parametrize("kind", list(Distribution))
@pytest.mark.parametrize(("columns", "block"), [(2048, 16), (2048, 64), (50257, 64)])
def test_an_honest_softmax_in_narrow_blocks_passes(
    columns: int, block: int, kind: Distribution, scaled_first: bool
) -> None:
    x = values((8, columns), DType.FLOAT32, 3, kind)
    found = judge(SOFTMAX, [x], softmax_in_blocks(x, block, scaled_first))
    assert found.mismatch is None, found.reason


@given(
    st.sampled_from(HALVES),
    st.sampled_from([k for k in Distribution if k is not Distribution.OFFSET]),
    st.integers(1, 600),
    st.integers(1, 128),
    st.integers(0, 2**31),
)
@settings(max_examples=100, deadline=None)
def test_no_order_of_an_honest_sum_is_a_false_alarm(
    dtype: DType, kind: Distribution, depth: int, block: int, seed: int
) -> None:
    a, b = values((24, depth), dtype, seed, kind), values((depth, 20), dtype, seed + 1, kind)
    order = torch.randperm(depth, generator=torch.Generator().manual_seed(seed))
    found = judge(MATMUL, [a, b], matmul_in_blocks(a[:, order], b[order], block, a.dtype))
    assert found.mismatch is None, found.reason


@given(
    st.sampled_from(FLOATS),
    st.sampled_from(list(Distribution)),
    st.integers(1, 3000),
    st.integers(16, 512),
    st.booleans(),
    st.integers(0, 2**31),
)
@settings(max_examples=100, deadline=None)
def test_no_blocks_of_an_honest_softmax_are_a_false_alarm(
    dtype: DType, kind: Distribution, columns: int, block: int, scaled_first: bool, seed: int
) -> None:
    x = values((4, columns), dtype, seed, kind)
    found = judge(SOFTMAX, [x], softmax_in_blocks(x, block, scaled_first))
    assert found.mismatch is None, found.reason


@given(st.sampled_from(HALVES), st.integers(16, 2048), st.data(), st.integers(0, 2**31))
@settings(max_examples=60, deadline=None)
def test_whichever_term_is_dropped_it_is_caught(
    dtype: DType, depth: int, data: st.DataObject, seed: int
) -> None:
    a, b = values((48, depth), dtype, seed), values((depth, 48), dtype, seed + 1)
    dropped = data.draw(st.integers(0, depth - 1))
    kept = torch.arange(depth) != dropped
    short = (a[:, kept].float() @ b[kept].float()).to(a.dtype)
    assert judge(MATMUL, [a, b], short).mismatch is not None


@given(st.sampled_from(HALVES), st.integers(0, 47), st.integers(0, 39), st.integers(0, 2**31))
@settings(max_examples=60, deadline=None)
def test_wherever_one_bad_element_is_it_is_placed(
    dtype: DType, row: int, column: int, seed: int
) -> None:
    a, b = values((48, 256), dtype, seed), values((256, 40), dtype, seed + 1)
    got = matmul_in_blocks(a, b, 64, a.dtype)
    got[row, column] += 0.05 * got.float().std().item() + 4 * got[row, column].abs() * 2**-7
    mismatch = judge(MATMUL, [a, b], got).mismatch
    assert mismatch is not None
    assert (mismatch.count, mismatch.first_index) == (1, (row, column))


@pytest.mark.parametrize("columns", [2048, 8192])
def test_a_softmax_whose_sum_lacks_one_column_is_caught(columns: int) -> None:
    x = values((32, columns), DType.FLOAT32, 3)
    powers = (x - x.amax(1, keepdim=True)).exp()
    got = powers / powers[:, :-1].sum(1, keepdim=True)
    assert judge(SOFTMAX, [x], got).mismatch is not None


@pytest.mark.parametrize("dtype", FLOATS)
def test_zeros_are_no_softmax(dtype: DType) -> None:
    x = values((4, 32768), dtype, 3)
    found = judge(SOFTMAX, [x], torch.zeros_like(x))
    assert found.mismatch is not None
    assert found.error is not None
    assert found.error.error == pytest.approx(1.0)


@pytest.mark.parametrize("dtype", FLOATS)
def test_a_softmax_that_leaves_out_a_column_is_caught(dtype: DType) -> None:
    x = values((32, 64), dtype, 3)
    got = torch.softmax(x.float()[:, :-1], 1)
    got = torch.cat([got, torch.softmax(x.float(), 1)[:, -1:]], 1)
    assert judge(SOFTMAX, [x], got.to(x.dtype)).mismatch is not None


def test_a_softmax_without_the_maximum_is_caught_by_the_offset() -> None:
    x = values((8, 1000), DType.FLOAT32, 3, Distribution.OFFSET)
    got = x.exp() / x.exp().sum(1, keepdim=True)
    found = judge(SOFTMAX, [x], got)
    assert found.mismatch is not None
    assert "not finite" in found.reason
    assert found.mismatch.first_got == "nan"


def test_half_precision_arithmetic_in_a_float32_softmax_is_caught() -> None:
    x = values((8, 1000), DType.FLOAT32, 3)
    assert judge(SOFTMAX, [x], torch.softmax(x.half().float(), 1)).mismatch is not None


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
def test_a_non_finite_element_is_caught_wherever_it_is(bad: float) -> None:
    reference = values((5, 7), DType.FLOAT32, 1).double()
    got = reference.clone()
    got[4, 6] = bad
    found = against(got, reference)
    assert found.mismatch is not None
    assert found.mismatch.first_index == found.mismatch.worst_index == (4, 6)
    assert found.error is not None
    assert found.error.error < 1e-6


@pytest.mark.parametrize("special", [math.nan, math.inf, -math.inf])
def test_a_finite_element_is_wrong_where_the_reference_is_not(special: float) -> None:
    reference = torch.ones(6, dtype=torch.float64)
    reference[2] = special
    assert against(reference.clone(), reference).mismatch is None
    assert against(torch.ones(6), reference).mismatch is not None


def test_overflow_is_right_only_where_the_reference_overflows() -> None:
    reference = torch.tensor([70_000.0, 65_510.0, -70_000.0, 1.0], dtype=torch.float64)
    right = torch.tensor([math.inf, 65_504.0, -math.inf, 1.0])
    assert against(right, reference, DType.FLOAT16).mismatch is None
    for index, value in [(0, 65_504.0), (2, math.inf), (3, math.inf)]:
        wrong = right.clone()
        wrong[index] = value
        assert against(wrong, reference, DType.FLOAT16).mismatch is not None


def test_subnormal_results_may_be_rounded_or_flushed() -> None:
    tiny = torch.tensor([1.0, 1e-39, 3e-40], dtype=torch.float64)
    assert against(torch.tensor([1.0, 0.0, 0.0]), tiny).mismatch is None
    assert against(torch.tensor([1.0, 1e-37, 0.0]), tiny).mismatch is not None
    small = torch.tensor([1.0, 1.02e-6], dtype=torch.float64)
    assert against(small, small, DType.FLOAT16).mismatch is None


def test_integers_must_be_equal() -> None:
    reference = torch.tensor([[1, 2], [3, 2**40]])
    wanted = spec((2, 2), DType.INT64)
    expected = Expected(reference, reference)
    assert compare_tensor(wanted, reference.clone(), expected, Tolerance(), "n").mismatch is None
    got = reference.clone()
    got[1, 1] += 1
    mismatch = compare_tensor(wanted, got, expected, Tolerance(), "n").mismatch
    assert mismatch is not None
    assert mismatch.first_expected == str(2**40)


def test_a_task_may_allow_a_share_of_violations() -> None:
    reference = torch.ones(1000, dtype=torch.float64)
    got = torch.ones(1000)
    got[7] = 1.0 + 1e-6
    wanted = spec((1000,), DType.FLOAT32)
    expected = Expected(reference, reference.float())
    for share, right in [(0.0, False), (0.001, True)]:
        found = compare_tensor(wanted, got, expected, Tolerance(violations=share), "normal")
        assert (found.mismatch is None) == right


def test_a_result_wrong_only_as_a_whole_names_the_worst_element() -> None:
    reference = torch.ones(64, 64, dtype=torch.float64)
    got = (reference * (1 + 3.5 * 2.0**-9)).bfloat16()
    got[3, 4] = 1 + 2.0**-7
    found = against(got, reference, DType.BFLOAT16)
    assert found.mismatch is not None
    assert found.mismatch.count == 0
    assert "as a whole" in found.reason


@pytest.mark.parametrize("shape", [(), (0,), (3, 0), (5,)])
def test_odd_shapes_compare(shape: tuple[int, ...]) -> None:
    reference = torch.ones(shape, dtype=torch.float64)
    assert against(reference.clone(), reference).mismatch is None
    if reference.numel():
        assert against(reference + 1, reference).mismatch is not None


@given(st.integers(1, 70), st.integers(1, 70), st.integers(1, 3), st.integers(0, 2**31))
@settings(max_examples=60, deadline=None)
def test_the_error_map_counts_every_mark_once(
    rows: int, columns: int, planes: int, seed: int
) -> None:
    generator = torch.Generator().manual_seed(seed)
    mask = torch.rand(planes, rows, columns, generator=generator) < 0.1
    tiles = error_map(mask)
    assert len(tiles) <= 32
    assert all(len(row) <= 32 for row in tiles)
    assert sum(map(sum, tiles)) == int(mask.sum())


def test_the_relative_error_of_a_zero_reference_is_absolute() -> None:
    zeros = torch.zeros(4, dtype=torch.float64)
    assert relative_error(zeros, zeros) == 0
    assert relative_error(zeros + 1, zeros) == 2
