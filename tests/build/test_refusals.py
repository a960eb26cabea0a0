"""Each refusal names the line of the submission and says what to write instead."""

import re

import pytest

from kernels.contract import Permissions
from tests.build.builds import AFTER_COPY, COPYING, failed, plan_of, task

SOLVE = "def solve(x):\n    y = torch.empty_like(x)\n"


def refused(lines: str) -> tuple[str, int | None, str]:
    """Reason, line within `lines` (from 1) and remedy."""
    body = "".join(f"    {line}\n" for line in lines.splitlines())
    failure = failed(f"{SOLVE}{body}    return run(x, y)\n")
    assert failure.verdict == "rejected", failure
    first = failure.diagnostics[0]
    assert first.message == failure.reason
    assert first.remedy
    line = None if first.line is None else first.line - AFTER_COPY - 1
    return failure.reason, line, first.remedy


@pytest.mark.parametrize(
    ("code", "what"),
    [
        ("x[0].item()", "tensor.item()"),
        ("float(x[0])", "float(tensor)"),
        ("int(x[0])", "int(tensor)"),
        ("x.tolist()", "tensor.tolist()"),
        ("x.cpu()", "tensor.cpu()"),
        ("x.to('cpu')", "tensor.cpu()"),
        ("x.numpy()", "tensor.numpy()"),
        ("torch.empty(100).copy_(x)", "copying a device tensor to the host"),
        ("if x[0]: pass", "a condition on a tensor"),
        ("range(x[0])", "a tensor used as an index or size"),
        ("torch.nonzero(x)", "torch.nonzero"),
        ("torch.unique(x)", "torch.unique2"),
        ("torch.equal(x, y)", "torch.equal"),
    ],
)
def test_device_data_cannot_be_read(code: str, what: str) -> None:
    reason, line, remedy = refused(f"z = 1\n{code}")
    assert reason.startswith(f"{what} reads the values of a device tensor of shape (")
    assert line == 2
    assert remedy == "decide by shapes, strides and dtypes, or do it inside a kernel"


@pytest.mark.parametrize(
    ("code", "operation"),
    [
        ("torch.softmax(x, 0)", "torch.softmax"),
        ("torch.sort(x)", "torch.sort"),
        ("x[x > 0]", "torch.gt"),
        ("x + 1", "torch.add"),
        ("x.sum()", "torch.sum"),
        ("x.exp_()", "torch.exp"),
        ("torch.add(x, x, out=y)", "torch.add"),
        ("torch.nn.functional.relu(x)", "torch.relu"),
    ],
)
def test_work_in_torch_is_refused(code: str, operation: str) -> None:
    reason, line, remedy = refused(code)
    assert reason == (
        f"{operation} is not allowed in host code: the work must be done by Triton kernels"
    )
    assert line == 1
    assert remedy.startswith("write it as a Triton kernel")


@pytest.mark.parametrize(
    ("code", "function", "operation"),
    [
        ("x @ x", "torch.matmul", "torch.dot"),
        ("torch.einsum('i,i->', x, x)", "torch.einsum", "torch.bmm"),
        ("torch.nn.functional.linear(x.view(10, 10), x[:10])", "torch.linear", "torch.mv"),
        ("torch.square(x)", "torch.square", "torch.pow"),
    ],
)
def test_work_in_torch_is_named_as_it_was_called(code: str, function: str, operation: str) -> None:
    reason, line, _ = refused(code)
    assert reason.startswith(f"{function} is not allowed in host code (it needs {operation}): ")
    assert line == 1


@pytest.mark.parametrize(
    "code",
    [
        "y = torch.randn(100, device='cuda')",
        "y = torch.rand_like(x).half().float()[:, None].view(-1)",
        "y.normal_(); y[1:].zero_()",
        "return x.new_empty(100).uniform_()",
        "torch.rand_like(x)[0].item()",
        "r = torch.rand_like(x); y.copy_(r)",
        "r = torch.rand_like(x); r = torch.tensor([r.data_ptr()], device=0); run(r, y)",
        "r = torch.rand_like(x)[:1]; y.zero_(); "
        "torch._amp_foreach_non_finite_check_and_unscale_([y], torch.ones(1, device='cuda'), r)",
        "r = torch.rand(9, 100, device='cuda'); z = torch.zeros_like(x); "
        "torch.nn.functional.batch_norm(r, y, z, training=True)",
        "triton.testing.do_bench(lambda: y.normal_())",
    ],
)
def test_random_numbers_are_refused(code: str) -> None:
    reason, line, remedy = refused(code)
    assert "draws random numbers" in reason
    assert line == 1
    assert "tl.rand" in remedy


def test_what_a_batch_norm_writes_unsaid_is_not_left_out() -> None:
    known = "mean, ones = torch.zeros(3, device='cuda'), torch.ones(3, device='cuda')"
    reason, line, _ = refused(
        f"{known}\ntorch.nn.functional.batch_norm(ones.expand(2, 3), mean, ones, training=True)"
    )
    assert "torch.batch_norm is not allowed" in reason
    assert line == 2


@pytest.mark.parametrize(
    ("code", "reason", "remedy"),
    [
        ("x.cuda(1)", "device cuda:1 does not exist: a submission sees one GPU", "use device"),
        ("y.resize_(10 ** 6)", "tensor.resize_() grows a device tensor", "allocate a new tensor"),
        ("y.copy_(x * torch.ones(100))", "found cuda:0 and cpu", "move the CPU tensor"),
        ("torch.ones(9, device='meta').cuda()", "no values that could be moved", "to_empty"),
        ("torch.full(y.shape, 3., out=y, device='meta')", "device type meta does not", "leave the"),
        ("with torch.device('meta'): torch.zeros(100, out=y)", "device type meta", "leave the"),
        ("y.copy_(torch.empty(100, device='meta'))", "found cuda:0 and meta", "to_empty"),
        ("x.__dlpack__()", "handed to another library", "launch Triton kernels only"),
        ("x.__cuda_array_interface__", "handed to another library", "launch Triton kernels only"),
        ("with torch.autocast('cuda'): pass", "torch.autocast is not", "cast explicitly"),
        ("for _ in range(3000): y.zero_()", "more than 2000 device operations", "inside a kernel"),
        ("copy[(1, 70000)](x, y, 100, BLOCK=64)", "outside the limits", "dimension of the grid"),
        ("copy[(2 ** 30, 4)](x, y, 100, BLOCK=64)", "2**31-1 programs", "let each program do more"),
        ("x[1:].copy_(x[:-1])", "torch.copy: some elements of the input tensor", "clone()"),
        ("y.view(10, 10).copy_(y.view(10, 10).t())", "refer to a single memory", "clone()"),
        ("y[:1].expand(100).copy_(x)", "refer to a single memory location", "clone()"),
        ("torch.empty(1 << 34, device=0).zero_()", "more than 64 GiB", "smaller tensors"),
        ("at[(1,)](12345 * 16)", "the address of no tensor", "the tensor itself"),
        ("torch.zeros(3, device='cuda', dtype=torch.complex64)", "torch.complex64", "real type"),
    ],
)
def test_what_a_plan_cannot_hold_is_refused(code: str, reason: str, remedy: str) -> None:
    kernel = '@triton.jit\ndef at(address: "*fp32"): tl.store(address, 0)\n'
    failure = failed(f"{kernel}{SOLVE}    {code}\n    return run(x, y)\n")
    assert failure.verdict == "rejected", failure
    assert reason in failure.reason
    assert failure.diagnostics[0].line == AFTER_COPY + 4
    assert remedy in (failure.diagnostics[0].remedy or "")


# One of each kind that people call, a line each; y is a new tensor like x.
REFUSED = """
x.view(10, 10) @ x.view(10, 10)
torch.addmm(y.view(10, 10), x.view(10, 10), x.view(10, 10))
torch.bmm(x.view(1, 10, 10), x.view(1, 10, 10))
torch.nn.functional.conv1d(x.view(1, 1, 100), x.view(1, 1, 100))
torch.nn.functional.scaled_dot_product_attention(*[x.view(1, 1, 10, 10)] * 3)
torch.nn.functional.layer_norm(x, (100,))
torch.nn.functional.rms_norm(x, (100,))
torch.nn.functional.gelu(x)
torch.nn.functional.cross_entropy(x.view(10, 10), torch.zeros(10, dtype=torch.long, device=0))
torch.nn.functional.pad(x.view(1, 1, 100), (1, 1), mode="reflect")
torch.nn.functional.interpolate(x.view(1, 1, 100), 50)
torch.nn.functional.max_pool1d(x.view(1, 1, 100), 2)
torch.nn.functional.embedding(torch.zeros(9, dtype=torch.long, device=0), x.view(10, 10))
torch.softmax(x, 0)
torch.log_softmax(x, 0)
torch.logsumexp(x, 0)
x.sum()
x.mean()
x.amax()
x.max()
x.argmax()
x.prod()
x.var()
x.std()
x.norm()
x.any()
x.sort()
x.topk(3)
x.median()
x.cumsum(0)
x.flip(0)
x.view(10, 10).tril()
x.view(10, 10).triu()
x[torch.arange(9, device=0)]
x[torch.arange(9)]
x.index_select(0, torch.arange(9, device=0))
x.gather(0, torch.arange(9, device=0))
y.scatter_(0, torch.arange(9, device=0), x)
y.scatter_add_(0, torch.arange(9, device=0), x)
y.index_copy_(0, torch.arange(9, device=0), x[:9])
y.index_add_(0, torch.arange(9, device=0), x[:9])
y[torch.arange(9, device=0)] = x[:9]
y.masked_fill_(torch.ones(100, dtype=torch.bool, device=0), 0)
torch.where(torch.ones(100, dtype=torch.bool, device=0), x, y)
torch._foreach_add_([y], 1.0)
torch._foreach_mul([x, y], [y, x])
x + 1
x * y
x / 2
x.pow(2)
x.exp()
x.sqrt()
x.rsqrt()
x.abs()
x.clamp(0)
x.round()
x > 0
x == y
torch.maximum(x, y)
torch.lerp(x, y, 0.5)
torch.outer(x, x)
torch.cdist(x.view(10, 10), x.view(10, 10))
torch.fft.rfft(x)
"""


def test_whatever_is_refused_has_its_line_and_a_remedy() -> None:
    calls = REFUSED.strip().splitlines()
    guarded = "".join(
        f"    try: {call}\n    except RuntimeError as e: assert e.remedy.startswith('write it')\n"
        for call in calls
    )
    case = plan_of(f"{SOLVE}{guarded}    return run(x, y)")
    noted = {int(match[1]) for note in case.notes if (match := re.search(r"at line (\d+)", note))}
    lines = {AFTER_COPY + 2 + 2 * number: call for number, call in enumerate(calls)}
    assert [call for line, call in lines.items() if line not in noted] == []


def test_a_refusal_that_was_swallowed_is_still_shown() -> None:
    failure = failed(f"""{SOLVE}
    try:
        x.max().item()
    except RuntimeError:
        return torch.softmax(x, 0)
    return run(x, y)
""")
    assert failure.reason.startswith("torch.softmax is not allowed")
    assert [d.message.split(" ")[0] for d in failure.diagnostics] == ["torch.softmax", "torch.max"]


def test_a_refusal_that_was_swallowed_is_noted_where_the_plan_is_built_all_the_same() -> None:
    case = plan_of("""
def solve(x):
    try:
        count = int(x.max())
    except RuntimeError:
        count = 100
    return run(x[:count], torch.empty_like(x))
""")
    (note,) = case.notes
    assert note.startswith(f"host code caught a refusal at line {AFTER_COPY + 3}: torch.max is not")


def test_a_test_that_runs_when_the_file_is_loaded_is_told_to_leave() -> None:
    failure = failed(
        "def solve(x): return run(x, torch.empty_like(x))\nsolve(torch.rand(9, device='cuda'))"
    )
    assert failure.reason.startswith("torch.rand draws random numbers")
    assert '`if __name__ == "__main__":`' in (failure.diagnostics[0].remedy or "")


def test_without_a_launch_there_is_no_plan() -> None:
    failure = failed("def solve(x): return x.clone()")
    assert failure.verdict == "rejected"
    assert failure.reason == "case case_0: no Triton kernel was launched"


def test_every_result_must_be_written() -> None:
    failure = failed(
        "def solve(x):\n    run(x, torch.empty_like(x))\n    if x.numel():\n"
        "        return torch.empty_like(x)\n    return x"
    )
    assert failure.reason == "case case_0: no kernel and no operation writes result 0"
    assert failure.diagnostics[0].line == AFTER_COPY + 3
    assert failure.diagnostics[0].remedy


def test_finishing_is_allowed_where_the_task_says_so() -> None:
    body = "def solve(x): return (run(x, torch.empty_like(x)) * 2).add_(x, alpha=3)"
    allowed = task(
        {"x": ("N",)},
        {"y": ("N",)},
        {"N": 100, "dtype": "float32"},
        permissions=Permissions(finishing=True),
    )
    assert failed(body, COPYING).verdict == "rejected"
    steps = plan_of(body, allowed).steps
    assert [getattr(step, "op", "launch") for step in steps] == [
        "launch",
        "aten.mul.Tensor",
        "aten.add_.Tensor",
    ]


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        ("torch.cuda.set_device(1)", "device cuda:1 does not exist"),
        ("torch.autocast('cuda')", "torch.autocast is not available"),
        ("x.view(100, *[1] * 8).zero_()", "a tensor has 9 dimensions"),
    ],
)
def test_so_are_refusals_from_outside_the_recorder(code: str, reason: str) -> None:
    case = plan_of(f"""
def solve(x):
    try:
        {code}
    except RuntimeError:
        pass
    return run(x, torch.empty_like(x))
""")
    (note,) = case.notes
    assert note.startswith(f"host code caught a refusal at line {AFTER_COPY + 3}: {reason}")
