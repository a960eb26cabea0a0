from collections.abc import Iterator

import pytest
from pydantic import ValidationError

from kernels.contract import GpuSeconds
from workers.measure.account import Account


def test_parts_add_up_and_an_inner_part_is_not_its_outers() -> None:
    moments: Iterator[float] = iter([0.0, 1.0, 3.0, 6.0, 10.0, 15.0])
    account = Account(lambda: next(moments))
    with account.part("load"), account.part("timing"):
        pass
    found = account.sum_up()
    assert (found.overhead, found.load, found.timing) == (1.0 + 5.0, 2.0 + 4.0, 3.0)
    assert found.total == 15.0


def test_what_fails_in_a_part_counts_for_it() -> None:
    moments: Iterator[float] = iter([0.0, 0.0, 4.0, 4.0])
    account = Account(lambda: next(moments))
    with pytest.raises(RuntimeError), account.part("choices"):
        raise RuntimeError
    assert account.sum_up() == GpuSeconds(total=4.0, choices=4.0)


def test_seconds_without_a_part_are_overhead() -> None:
    seen = GpuSeconds.of(load=0.5, timing=1.0, overhead=0.25)
    assert seen.within(2.0) == GpuSeconds(total=2.0, load=0.5, timing=1.0, overhead=0.5)
    assert seen.within(1.0) == seen


def test_parts_that_do_not_make_the_total_are_refused() -> None:
    with pytest.raises(ValidationError, match="do not make a total"):
        GpuSeconds(total=1.0, load=0.5)
