"""Addresses outside every tensor are found before they do harm."""

import numpy as np
import pytest
import torch

from kernels.contract import Layout
from tests.interpret.interpreter import Interpreter, vectors
from workers.interpret.caveats import Caveats
from workers.interpret.faults import IllegalAddress
from workers.interpret.memory import Memory

HEAD = """
import torch, triton
import triton.language as tl

@triton.jit
def kernel(a, y, N, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
"""
HOST = """
def solve(a):
    y = torch.empty_like(a)
    kernel[(1,)](a, y, a.numel(), BLOCK=triton.next_power_of_2(a.numel()))
    return y
"""
READ_OUTSIDE = "A kernel read outside its tensors; what it found there was NaN."


def kernel(*lines: str) -> str:
    """A submission whose kernel has those lines, from line 8 on."""
    return HEAD + "".join(f"    {line}\n" for line in lines) + HOST


def addresses(tensor: torch.Tensor, *elements: int) -> np.ndarray:
    return np.array([tensor.data_ptr() + 4 * element for element in elements], np.uint64)


def everywhere(count: int) -> np.ndarray:
    return np.ones(count, np.bool_)


def test_a_view_may_use_its_whole_storage() -> None:
    memory = Memory(Caveats())
    tensor = torch.empty(8)
    memory.admit([tensor[2:4]])
    assert memory.outside(addresses(tensor, 0, 7), everywhere(2), 4) is None


def test_the_element_must_lie_inside_as_a_whole() -> None:
    memory = Memory(Caveats())
    tensor = torch.empty(8)
    memory.admit([tensor])
    last = addresses(tensor, 7) + np.uint64(1)
    outside = memory.outside(last, everywhere(1), 4)
    assert outside is not None
    assert outside.tolist() == [True]


def test_masked_addresses_may_point_anywhere() -> None:
    memory = Memory(Caveats())
    tensor = torch.empty(8)
    memory.admit([tensor])
    mask = np.array([True, False])
    assert memory.outside(addresses(tensor, 0, 1 << 40), mask, 4) is None


def test_a_mask_may_be_held_as_integers() -> None:
    memory = Memory(Caveats())
    tensor = torch.empty(8)
    memory.admit([tensor])
    mask = np.array([1, 0, 1], np.int32)
    assert memory.outside(addresses(tensor, 0, 1 << 28, 7), mask, 4) is None
    outside = memory.outside(addresses(tensor, 0, 1 << 28, 8), mask, 4)
    assert outside is not None
    assert outside.tolist() == [False, False, True]


def test_tensors_that_are_no_arguments_are_found() -> None:
    memory = Memory(Caveats())
    tensor, other = torch.empty(8), torch.empty(8)
    memory.admit([tensor])
    assert memory.outside(addresses(other, 3), everywhere(1), 4) is None


def test_far_addresses_are_illegal() -> None:
    memory = Memory(Caveats())
    tensor = torch.empty(8)
    memory.admit([tensor])
    with pytest.raises(IllegalAddress):
        memory.outside(addresses(tensor, 1 << 42), everywhere(1), 4)


def test_a_write_behind_the_end_is_a_memory_violation(interpreter: Interpreter) -> None:
    source = kernel("value = tl.load(a + at, mask=at < N)", "tl.store(y + at, value)")
    answer, _ = interpreter.run(source, vectors(13), [torch.ones(13)])
    assert answer.completed == 0
    assert answer.failure is not None
    assert answer.failure.verdict == "memory_violation"
    assert answer.failure.reason == "a kernel wrote 3 element(s) outside its tensors"
    assert answer.failure.diagnostics[0].line == 9


@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16"])
def test_a_read_behind_the_end_finds_nan(interpreter: Interpreter, dtype: str) -> None:
    source = kernel("value = tl.load(a + at + 1)", "tl.store(y + at, value, mask=at < N)")
    values = torch.arange(16).to(getattr(torch, dtype))
    answer, (result,) = interpreter.run(source, vectors(16, dtype), [values])
    assert answer.failure is None
    assert READ_OUTSIDE in answer.caveats
    assert torch.equal(result[:15], values[1:])
    assert result[15].isnan()


def test_honest_kernels_read_nothing_outside(interpreter: Interpreter) -> None:
    source = kernel(
        "value = tl.load(a + at, mask=at < N, other=0.0)", "tl.store(y + at, value, mask=at < N)"
    )
    storage = torch.arange(14.0)
    task = vectors(13, layout=Layout.OFFSET)
    answer, (result,) = interpreter.run(source, task, [storage])
    assert answer.failure is None
    assert READ_OUTSIDE not in answer.caveats
    assert torch.equal(result, storage[1:])


def test_a_mask_may_be_joined_with_a_condition_on_numbers(interpreter: Interpreter) -> None:
    source = kernel(
        "for row in range(0, 2):",
        "    inside = (at < N) & (row < tl.minimum(N, 1))",
        "    value = tl.load(a + row * 16 + at, mask=inside, other=0.0)",
        "    tl.store(y + row * 16 + at, value, mask=inside)",
    )
    values = torch.arange(13.0)
    answer, (result,) = interpreter.run(source, vectors(13), [values])
    assert answer.failure is None
    assert READ_OUTSIDE not in answer.caveats
    assert torch.equal(result, values)


@pytest.mark.parametrize("line", ["tl.store(a + N + at, 0.0)", "tl.atomic_add(a + N + at, 1.0)"])
def test_every_kind_of_write_is_checked(interpreter: Interpreter, line: str) -> None:
    answer, _ = interpreter.run(kernel(line), vectors(16), [torch.ones(16)])
    assert answer.failure is not None
    assert answer.failure.verdict == "memory_violation"


def test_an_illegal_address_is_a_runtime_error(interpreter: Interpreter) -> None:
    source = kernel("tl.store(y + (1 << 42) + at, 0.0)")
    answer, _ = interpreter.run(source, vectors(16), [torch.ones(16)])
    assert answer.failure is not None
    assert answer.failure.verdict == "runtime_error"
    assert answer.failure.diagnostics[0].line == 8


def test_what_no_kernel_writes_is_nan(interpreter: Interpreter) -> None:
    source = kernel("tl.store(y + at, 1.0, mask=at < 3)")
    _, (result,) = interpreter.run(source, vectors(5), [torch.ones(5)])
    assert result.isnan().tolist() == [False, False, False, True, True]
