"""Kernels in the report: who launches them, how they fill the device, what to change."""

from typing import Any

import pytest

from kernels.contract import Alternative, Choice, Cost, InstructionMix, Kernel, Resources
from kernels.contract.wire import Rebuilt
from tests.contract import examples as a
from workers.kernel_reports import kernel_reports
from workers.rebuilding import Provenance

PRODUCT = a.task(cost=Cost(flops="2*M*N", bytes="M*N", rate="tensor16"))
COPY = a.task(cost=Cost(bytes="M*N", rate="fp32"))


def mix(**changes: Any) -> InstructionMix:
    values = {
        **dict.fromkeys(("wgmma", "mma", "tma", "async_copies", "local", "special"), 0),
        **{"total": 100, "loads": {"16": 4}},
    }
    return InstructionMix.model_validate(values | changes)


def advice(
    task: Any = PRODUCT, case: str = "wide", kernel: Kernel | None = None, **facts: Any
) -> tuple[str, ...]:
    plan = a.plan(cases=(a.case_plan(case=case),), kernels={a.SHA: kernel or a.kernel()})
    found = Provenance(outcome="identical", kernels={a.SHA: Rebuilt(cubin=a.SHA, **facts)})
    (report,) = kernel_reports(plan, task, found)
    return report.advice


def test_kernels_are_listed_by_configuration() -> None:
    alternatives = tuple(Alternative(config=c, steps=(a.launch(),)) for c in ("BLOCK: 64", "128"))
    plan = a.plan(
        cases=(
            a.case_plan(steps=(Choice(id=0, function="f", alternatives=alternatives),)),
            a.case_plan(case="wide"),
        )
    )
    listed = kernel_reports(plan, a.task())
    assert [(k.config, k.cases) for k in listed] == [
        ("BLOCK: 64", ("tiny",)),
        ("128", ("tiny",)),
        ("", ("wide",)),
    ]
    assert listed[0].mix is None
    assert listed[0].occupancy is not None
    assert listed[0].occupancy.share == 1.0


@pytest.mark.parametrize(
    ("facts", "words"),
    [
        ({"mix": mix()}, "tensor cores"),
        ({"mix": mix(wgmma=1, loads={"2": 3, "16": 1})}, "2 bytes at a time"),
        ({"mix": mix(mma=1), "specialization_ignored": True}, "warp_specialize"),
    ],
)
def test_advice_where_it_is_sure(facts: dict[str, Any], words: str) -> None:
    (sentence,) = advice(**facts)
    assert words in sentence


@pytest.mark.parametrize(
    "facts",
    [
        {"mix": mix(wgmma=8)},
        {"mix": mix(mma=8, loads={"2": 1, "16": 3})},
        {"mix": mix(), "task": COPY},
        {"mix": mix(loads={"2": 4}), "case": "tiny"},  # no benchmark: its speed does not count
        {"mix": None},
    ],
)
def test_no_advice_where_it_is_not(facts: dict[str, Any]) -> None:
    assert advice(**facts) == ()


def test_spills_are_told_in_every_case() -> None:
    spilling = Resources(
        registers=255, stack_bytes=64, spill_store_bytes=32, spill_load_bytes=16,
        shared_bytes=0, static_shared_bytes=0,
    )  # fmt: skip
    (sentence,) = advice(case="tiny", kernel=a.kernel(resources=spilling), mix=mix(wgmma=1))
    assert "spills 48 bytes" in sentence
