"""Plans on a real GPU: each hazard gets its verdict, and what is right is timed."""

import importlib.util
from pathlib import Path

import pytest

from kernels.contract import CaseResult, DeviceName, Permissions, Task, Tolerance, Verdict
from kernels.contract.wire import MeasureAnswer, MeasureRequest
from tests.forked import forked
from tests.measure import plans
from workers.measure import physics

# torch.cuda.is_available() is not asked: a process that has touched CUDA cannot fork for it.
_GPU = Path("/dev/nvidiactl").exists() and importlib.util.find_spec("cuda") is not None
pytestmark = [pytest.mark.gpu, pytest.mark.skipif(not _GPU, reason="needs a Hopper GPU")]


def judged(source: str, tmp_path: Path, task: Task | None = None) -> tuple[CaseResult, ...]:
    """The cases of a submission, built and judged in children."""
    task = task or plans.task()
    bundle = plans.built(source, task)
    reference = tmp_path / "reference.py"
    reference.write_text(plans.REFERENCE)
    request = MeasureRequest(
        task=task, reference=str(reference), device=DeviceName.H200, seed=11, seconds=60
    ).pack((bundle,))
    answer, _ = MeasureAnswer.unpack(forked(lambda: _run(request)))
    assert answer.failure is None, answer.failure
    return answer.cases


def _run(request: bytes) -> bytes:
    from workers.measure.main import run

    return run(request)


def kernel(body: str, call: str, before: str = "", launches: str = "") -> str:
    """A submission whose kernel has the given body."""
    return f"""{plans.HEAD}
@triton.jit
def double(x, y, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + i, mask=i < n, other=0.0)
{body}

def solve(x):
    n = x.numel()
    grid = (triton.cdiv(n, 1024),)
    y = {call}
    {before}
    double[grid](x, y, n, BLOCK=1024)
    {launches}
    return y
"""


def test_a_right_kernel_is_accepted_and_timed(tmp_path: Path) -> None:
    ragged, large = judged(plans.DOUBLE, tmp_path)
    assert (ragged.verdict, large.verdict) == (Verdict.ACCEPTED, Verdict.ACCEPTED)
    timing = large.timing
    assert timing is not None
    assert timing.low <= timing.microseconds <= timing.high
    assert 0.3 < timing.roofline < 1.3
    assert timing.bound == "memory"
    assert timing.torch_microseconds is not None
    assert timing.second_microseconds is not None
    assert physics.clocks_agree(timing.microseconds, timing.second_microseconds)
    assert timing.ceiling is not None
    assert 2e12 < timing.ceiling < 4.8e12
    assert [share.step for share in large.shares] == ["double"]


@pytest.mark.parametrize(
    ("body", "verdict", "words"),
    [
        ("    tl.store(y + i, v * 2 + (i == 5), mask=i < n)", Verdict.WRONG_ANSWER, "(0, 5)"),
        ("    tl.store(y + i, v * 2, mask=i < n - 1)", Verdict.WRONG_ANSWER, "not finite"),
        ("    tl.store(y + i, v * 2, mask=i < n + 1)", Verdict.MEMORY_VIOLATION, "after"),
        ("    tl.store(y + i - 1, v * 2, mask=i < n)", Verdict.MEMORY_VIOLATION, "before"),
        (
            "    tl.store(y + i, v * 2, mask=i < n)\n    tl.store(x + i, v + 1, mask=i < n)",
            Verdict.WRONG_ANSWER,
            "changed its input x",
        ),
        (
            "    tl.store(y + i + (1 << 42), v * 2, mask=i < n)",
            Verdict.RUNTIME_ERROR,
            "the kernel double failed",
        ),
    ],
)
def test_a_hazard_gets_its_verdict(tmp_path: Path, body: str, verdict: Verdict, words: str) -> None:
    first, *_ = judged(kernel(body, "torch.empty_like(x)"), tmp_path)
    assert first.verdict is verdict, first.reason
    assert words in first.reason


def test_a_sum_in_any_order_is_unstable_unless_the_task_allows_it(tmp_path: Path) -> None:
    # Every program adds its own share to each element of y, with shares of different size.
    body = """
    s = tl.program_id(1)
    part = v * 2 * (1.0 / 7 + (s - 31.5) * 1e-3) / (64.0 / 7)
    tl.atomic_add(y + i, part, mask=i < n)"""
    source = kernel(body, "torch.zeros(x.shape, device=x.device, dtype=torch.float32)")
    source = source.replace("grid = (triton.cdiv(n, 1024),)", "grid = (triton.cdiv(n, 1024), 64)")
    source = source.replace("return y", "return y.to(x.dtype)")
    # 64 additions in fp32 are further off than torch's one product.
    wide = Tolerance(ulps=256, frobenius_ratio=100)
    small = plans.task(rows=16, tolerance=wide)
    ragged, *_ = judged(source, tmp_path, small)
    assert ragged.verdict is Verdict.UNSTABLE, ragged.reason
    allowed = plans.task(Permissions(atomics=True), rows=16, tolerance=wide)
    ragged, *_ = judged(source, tmp_path, allowed)
    assert ragged.verdict is Verdict.ACCEPTED, ragged.reason


def test_a_kernel_that_does_not_end_is_a_timeout_with_its_name(tmp_path: Path) -> None:
    body = """
    while tl.load(y, volatile=True) != 5.0:
        pass
    tl.store(y + i, v * 2, mask=i < n)"""
    first, *others = judged(kernel(body, "torch.empty_like(x)"), tmp_path)
    assert first.verdict is Verdict.TIMEOUT
    assert "the kernel double did not end" in first.reason
    assert others == []


def test_work_left_to_torch_is_rejected_where_only_finishing_is_allowed(tmp_path: Path) -> None:
    task = plans.task(Permissions(finishing=True))
    decoy = kernel(
        "    tl.store(y + i, v, mask=i < 1)", "torch.empty_like(x)", launches="y = x + x"
    )
    ragged, large = judged(decoy, tmp_path, task)
    assert (ragged.verdict, large.verdict) == (Verdict.ACCEPTED, Verdict.REJECTED)
    assert "finishing" in large.reason
    honest = plans.DOUBLE.replace("return y", "y[:1] = y[:1] * 1.0\n    return y")
    assert [case.verdict for case in judged(honest, tmp_path, task)] == [Verdict.ACCEPTED] * 2


def test_the_fastest_configuration_is_chosen_and_checked(tmp_path: Path) -> None:
    source = plans.DOUBLE.replace(
        "@triton.jit",
        "@triton.autotune(\n"
        "    [triton.Config({'BLOCK': 16}), triton.Config({'BLOCK': 2048})], key=['n'])\n"
        "@triton.jit",
    )
    source = source.replace("x.numel(), 1024),)]", "x.numel(), 16),)]").replace(", BLOCK=1024", "")
    source = source.replace(
        "double[(triton.cdiv(x.numel(), 16),)]",
        "double[lambda meta: (triton.cdiv(x.numel(), meta['BLOCK']),)]",
    )
    cases = judged(source, tmp_path)
    assert [case.verdict for case in cases] == [Verdict.ACCEPTED, Verdict.ACCEPTED]
    assert "2048" in cases[1].configs["double"]


def test_a_configuration_that_is_fast_but_wrong_is_found_wrong(tmp_path: Path) -> None:
    source = f"""{plans.HEAD}
@triton.autotune([triton.Config({{'SKIP': False}}), triton.Config({{'SKIP': True}})], key=['n'])
@triton.jit
def double(x, y, n, SKIP: tl.constexpr):
    i = tl.program_id(0) * 1024 + tl.arange(0, 1024)
    v = tl.load(x + i, mask=i < n)
    if not SKIP:
        for _ in range(50):
            v = tl.load(x + i, mask=i < n, volatile=True)
    tl.store(y + i, tl.where(SKIP, v, v * 2), mask=i < n)

def solve(x):
    y = torch.empty_like(x)
    double[(triton.cdiv(x.numel(), 1024),)](x, y, x.numel())
    return y
"""
    verdicts = [case.verdict for case in judged(source, tmp_path)]
    assert Verdict.WRONG_ANSWER in verdicts


@pytest.mark.parametrize("rank", [1, 2])
def test_tensor_maps_are_encoded(tmp_path: Path, rank: int) -> None:
    shape = {1: "[x.numel()]", 2: "list(x.shape)"}[rank]
    strides = {1: "[1]", 2: "[x.shape[1], 1]"}[rank]
    block = {1: "[256]", 2: "[16, 128]"}[rank]
    body = {
        1: "    y.store([tl.program_id(0) * 256], x.load([tl.program_id(0) * 256]) * 2)",
        2: "    at = [tl.program_id(0) * 16, tl.program_id(1) * 128]\n"
        "    y.store(at, x.load(at) * 2)",
    }[rank]
    grid = {
        1: "(triton.cdiv(x.numel(), 256),)",
        2: "(triton.cdiv(x.shape[0], 16), triton.cdiv(x.shape[1], 128))",
    }[rank]
    source = f"""{plans.HEAD}
from triton.tools.tensor_descriptor import TensorDescriptor

@triton.jit
def double(x, y):
{body}

def solve(x):
    y = torch.empty_like(x)
    a = TensorDescriptor(x, {shape}, {strides}, {block})
    b = TensorDescriptor(y, {shape}, {strides}, {block})
    double[{grid}](a, b)
    return y
"""
    task = plans.task()
    ragged = task.cases[0].model_copy(update={"values": {**task.cases[0].values, "N": 132}})
    task = Task.model_validate({**dict(task), "cases": (ragged, task.cases[1])})
    cases = judged(source, tmp_path, task)
    assert [case.verdict for case in cases] == [Verdict.ACCEPTED] * 2, cases[0].reason


@pytest.mark.parametrize(
    "option", ["launch_cooperative_grid=True", "launch_pdl=True", "num_ctas=2"]
)
def test_launch_attributes_are_kept(tmp_path: Path, option: str) -> None:
    source = plans.DOUBLE.replace("BLOCK=1024)", f"BLOCK=1024, {option})")
    verdicts = [case.verdict for case in judged(source, tmp_path, plans.task(rows=16))]
    assert verdicts == [Verdict.ACCEPTED] * 2


def test_movement_by_torch_is_replayed_and_shown(tmp_path: Path) -> None:
    source = plans.DOUBLE.replace("    return y", "    return y.t().contiguous().t().contiguous()")
    cases = judged(source, tmp_path)
    assert [case.verdict for case in cases] == [Verdict.ACCEPTED] * 2
    assert {share.step for share in cases[1].shares} == {"double", "clone"}
    assert sum(share.share for share in cases[1].shares) == pytest.approx(1)
