"""Reasons drawn from reports that an H200 gave."""

import re
from pathlib import Path

import pytest

from app.pages.assets import FRONTEND
from app.pages.why import why
from kernels.contract import CaseResult, Report, StepShare
from kernels.contract.device import Rate

REPORTS = Path(__file__).parents[1] / "data" / "reports" / "h200"


def report(name: str) -> Report:
    return Report.model_validate_json((REPORTS / f"{name}.json").read_bytes())


def told(found: Report, rate: Rate) -> dict[str, list[str]]:
    return {case.case: [sentence.text for sentence in case.sentences] for case in why(found, rate)}


def test_the_farthest_from_the_roofline_come_first() -> None:
    found = why(report("softmax-accepted-three_pass"), "fp32")
    assert len(found) == 3
    assert [case.share for case in found] == sorted(case.share for case in found)


@pytest.mark.parametrize(
    ("name", "rate", "case", "reason"),
    [
        ("matmul-accepted-tile", "tensor16", "square_8192", "58 of 255 registers"),
        ("matmul-accepted-tile", "tensor16", "square_8192", "lowered its clock to 1635 MHz"),
        ("matmul-accepted-tile", "tensor16", "layer_16", "1.16 of 4.80 TB/s"),
        ("softmax-accepted-three_pass", "fp32", "ragged_5000", "2 bytes at a time"),
        ("softmax-accepted-fused", "fp32", "long_rows", "16 of 64 warps fit"),
    ],
)
def test_each_reason_has_its_figures(name: str, rate: Rate, case: str, reason: str) -> None:
    assert any(reason in text for text in told(report(name), rate)[case])


def test_what_is_near_the_roofline_is_left_alone() -> None:
    found = report("softmax-accepted-fused")
    cases = [_near(case) for case in found.cases]
    texts = told(found.model_copy(update={"cases": tuple(cases)}), "fp32")
    assert all(
        text == ["At 90.0 % of the roofline little is left to gain."] for text in texts.values()
    )


def test_several_steps_are_to_be_fused() -> None:
    found = report("softmax-accepted-fused")
    shares = (StepShare(step="a", share=0.6), StepShare(step="b", share=0.4))
    cases = tuple(case.model_copy(update={"shares": shares}) for case in found.cases)
    texts = told(found.model_copy(update={"cases": cases}), "fp32")
    assert all("2 steps share its time, a has 60.0 %" in text[1] for text in texts.values())


def test_links_lead_to_parts_of_the_gpu() -> None:
    page = (FRONTEND / "templates" / "hopper.html").read_text(encoding="utf-8")
    parts = set(re.findall(r'<div id="(\w+)">', page))
    names = ("matmul-accepted-tile", "softmax-accepted-fused", "softmax-accepted-three_pass")
    used = {s.part for name in names for case in why(report(name), "fp32") for s in case.sentences}
    assert used - {""} <= parts


def _near(case: CaseResult) -> CaseResult:
    if case.timing is None:
        return case
    timing = case.timing.model_copy(update={"roofline": 0.9, "throttled": ()})
    return case.model_copy(update={"timing": timing})
