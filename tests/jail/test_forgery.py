"""What a jail says is data: no word of it changes how its end is judged."""

import json
from dataclasses import replace

import pytest

from tests.jail.conftest import LIMITS, Run
from workers.jail import Status


def test_early_result_is_a_result_like_any_other(run: Run) -> None:
    outcome = run("forge")
    assert (outcome.status, outcome.result) == (Status.OK, b"forged")


def test_two_results_are_none(run: Run) -> None:
    outcome = run("forge_and_return")
    assert (outcome.status, outcome.result) == (Status.RESULT, b"")


def test_result_and_a_bad_exit(run: Run) -> None:
    outcome = run("forge_and_fail")
    assert (outcome.status, outcome.exit_code, outcome.result) == (Status.EXIT, 3, b"")


def test_result_and_no_end(run: Run) -> None:
    outcome = run("forge_and_stay", limits=replace(LIMITS, wall_s=1))
    assert (outcome.status, outcome.result) == (Status.TIMEOUT, b"")


@pytest.mark.parametrize("kind", [b"length", b"kind", b"short"])
def test_garbage_is_no_result(run: Run, kind: bytes) -> None:
    outcome = run("forge_garbage", kind)
    assert (outcome.status, outcome.result) == (Status.RESULT, b"")


def test_endless_results(run: Run) -> None:
    outcome = run("forge_endless")
    assert (outcome.status, outcome.result) == (Status.RESULT, b"")


def test_closed_descriptors(run: Run) -> None:
    outcome = run("close_all")
    assert (outcome.status, outcome.result) == (Status.EXIT, b"")
    assert outcome.exit_code != 0


def test_nothing_else_is_inherited(run: Run) -> None:
    standard_and_result = json.loads(run("inherit").result)
    assert standard_and_result[:3] == [0, 1, 2]
    assert len(standard_and_result) == 4
