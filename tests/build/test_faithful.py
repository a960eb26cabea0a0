"""Host code that is easily taken for other than it is: plans say what it would do on a GPU."""

import textwrap

import pytest
import torch

from kernels.contract import Bundle, Permissions, TensorOp
from tests.build.builds import AFTER_COPY, COPY, COPYING, answer, failed, names, plan_of, task

PASSED = COPYING.model_copy(update={"style": "out"})
FINISHING = task(
    {"x": ("N",)},
    {"y": ("N",)},
    {"N": 100, "dtype": "float32"},
    permissions=Permissions(finishing=True),
)
THREADS = {
    "subclass": """
        class Worker(threading.Thread):
            def run(self):
                work()
        thread = Worker()
        thread.start()
        thread.join()
    """,
    "raw": """
        done = _thread.allocate_lock()
        done.acquire()
        def run_raw(*, then):
            work()
            then()
        _thread.start_new_thread(run_raw, (), {"then": done.release})
        done.acquire()
    """,
}


@pytest.mark.parametrize("kind", THREADS)
def test_work_of_every_kind_of_thread_is_recorded(kind: str) -> None:
    thread = textwrap.indent(textwrap.dedent(THREADS[kind]), "    ")
    case = plan_of(
        f"""
import _thread
import threading

def solve(x):
    y = torch.empty_like(x)

    def work():
        run(x, y)
        y[:10].zero_()
{thread}
    return y
"""
    )
    assert names(case) == ["launch", "aten.zero_.default"]


def test_operations_within_a_tensor_class_of_ones_own_are_recorded() -> None:
    case = plan_of(
        """
        class Wrapper(torch.Tensor):
            @staticmethod
            def __new__(cls, inner):
                made = torch.Tensor._make_wrapper_subclass(cls, inner.shape, device="cuda")
                made.inner = inner
                return made

            @classmethod
            def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
                inner = [a.inner if isinstance(a, Wrapper) else a for a in args]
                return func(*inner, **(kwargs or {}))

        def solve(x):
            y = run(x, torch.empty_like(x))
            Wrapper(y).zero_()
            return y
        """
    )
    assert names(case) == ["launch", "aten.zero_.default"]


def test_copies_are_no_other_names_of_a_tensor() -> None:
    case = plan_of(
        """
        def solve(x):
            on_host = torch.zeros(1)
            pinned = on_host.pin_memory()
            on_host += 1
            assert pinned.item() == 0
            torch.asarray(x, copy=True).zero_()
            return run(x, torch.empty_like(x))
        """
    )
    clone, zero, _ = case.steps
    assert isinstance(clone, TensorOp)
    assert isinstance(zero, TensorOp)
    assert zero.outputs == clone.outputs
    assert case.buffers[zero.outputs[0].buffer].role == "temporary"


def test_shallow_copies_are_other_names_of_a_tensor() -> None:
    case = plan_of(
        """
        import copy as copies

        def solve(x):
            weight = copies.copy(torch.nn.Parameter(x))
            assert type(weight) is torch.nn.Parameter and weight.data_ptr() == x.data_ptr()
            assert copies.copy(torch.ones(3)).sum() == 3
            y = torch.empty_like(x)
            y.part = "bias"
            assert copies.copy(y).part == "bias"
            run(weight, copies.copy(y))
            return y
        """
    )
    assert [buffer.role for buffer in case.buffers] == ["input", "output"]


@pytest.mark.parametrize("change", ["unsqueeze_(0)", "t_()", "transpose_(0, 1)", "squeeze_()"])
def test_views_in_place_are_no_work(change: str) -> None:
    case = plan_of(
        f"""
        def solve(x):
            y = torch.empty(10, 10, device="cuda")
            y.{change}
            return run(x, y).view(-1) if y.is_contiguous() else run(x, y.t()).reshape(-1)
        """
    )
    assert names(case) == ["launch"]


@pytest.mark.parametrize(
    "change",
    [
        "y.resize_(50)",
        "y.unsqueeze_(0)",
        "y.data = torch.empty(50, dtype=torch.complex64, device='cuda')",
    ],
)
def test_what_becomes_of_a_passed_tensor_moves_no_result(change: str) -> None:
    case = plan_of(f"def solve(x, y):\n    run(x, y)\n    {change}\n", PASSED)
    assert case.outputs[0].shape == (100,)
    assert case.outputs[0].buffer == 1


def test_results_put_in_place_of_a_passed_tensor_are_none() -> None:
    found = failed("def solve(x, y):\n    y.set_(run(x, torch.empty_like(x)))\n", PASSED)
    assert found.reason == "case case_0: no kernel and no operation writes result 0"


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("reduction", ["sum", "mean"])
def test_reductions_are_computed_in_the_type_of_their_out(reduction: str, dtype: str) -> None:
    case = plan_of(
        f"""
        def solve(x):
            halves = run(x, torch.empty_like(x)).half().view(10, 10)
            out = torch.empty(10, dtype=torch.{dtype}, device="cuda")
            torch.{reduction}(halves, dim=0, out=out)
            return run(x, torch.empty_like(x))
        """,
        FINISHING,
    )
    step = case.steps[2]
    assert isinstance(step, TensorOp)
    assert step.op.startswith(f"aten.{reduction}.")
    assert step.outputs[0].dtype == dtype


def test_a_result_is_not_cut_to_fit_its_out() -> None:
    found = failed(
        "def solve(x):\n    y = run(x, torch.empty_like(x))\n    torch.add(y, 1, out=y.int())\n",
        FINISHING,
    )
    assert "can't be cast" in found.reason
    assert found.diagnostics[0].line == AFTER_COPY + 2


def test_a_fraction_of_a_program_is_an_error() -> None:
    found = failed("def solve(x):\n    copy[(1.5,)](x, x, 100, BLOCK=64)\n")
    assert found.reason == "TypeError: 'float' object cannot be interpreted as an integer"
    assert found.diagnostics[0].line == AFTER_COPY + 1
    assert "triton.cdiv" in (found.diagnostics[0].remedy or "")


def test_a_fill_of_elements_that_share_memory_does_not_make_the_rest_known() -> None:
    found = failed(
        """
        def solve(x):
            y = torch.empty(4, device="cuda")
            run(x[:4], y)
            y.as_strided((2, 2), (1, 1)).fill_(1)
            return run(x, torch.full_like(x, y[3].item()))
        """
    )
    assert found.reason.startswith("tensor.item() reads the values of a device tensor")


@pytest.mark.parametrize(
    "made",
    [
        "x.as_strided((100,), (1,), 50)",
        "x.as_strided((10, 10), (20, 1))",
        "torch.empty(0, device='cuda').set_(y.untyped_storage(), 1, (100,), (1,))",
        "grown(y).as_strided((200,), (1,))[100:]",
    ],
)
def test_tensors_end_where_their_memory_does(made: str) -> None:
    found = failed(
        f"""
        def grown(y):
            y.untyped_storage().resize_(800)
            return y

        def solve(x):
            y = run(x, torch.empty_like(x))
            return run({made}, torch.empty_like(x))
        """
    )
    assert found.verdict == "rejected"
    assert found.reason.endswith("gives a tensor that ends behind the memory it lies in")
    assert found.diagnostics[0].line == AFTER_COPY + 7


def test_a_view_cannot_grow_past_the_end_either() -> None:
    found = failed("def solve(x):\n    return run(x, torch.empty_like(x)[50:].resize_(100))\n")
    assert found.reason.startswith("tensor.resize_() grows a device tensor")
    assert found.diagnostics[0].line == AFTER_COPY + 1


@pytest.mark.parametrize(
    "old", ["torch.cuda.FloatTensor(100)", "torch.zeros(100).type(torch.cuda.FloatTensor)"]
)
def test_old_ways_to_allocate_are_told_the_new_one(old: str) -> None:
    found = answer(COPY + f"def solve(x):\n    return run(x, {old})\n", COPYING)
    if isinstance(found, Bundle):  # a torch for CUDA knows these types, and then they may be used
        assert torch.version.cuda is not None
        return
    assert found.diagnostics[0].line == AFTER_COPY + 1
    assert "device='cuda'" in (found.diagnostics[0].remedy or "")
