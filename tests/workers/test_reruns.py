"""The rerun job around the GPU: each turn becomes a sitting, and every end is said."""

import hashlib
from collections.abc import Callable
from typing import Any

import pytest
import redis
from pydantic import TypeAdapter

from kernels.catalog import Catalog
from kernels.contract import (
    STREAM,
    CaseResult,
    DeviceName,
    Event,
    GpuSeconds,
    Verdict,
    lease_key,
)
from kernels.contract.inspection import Inspection
from kernels.contract.rerun import Rerun, RerunKind, RerunPlan, Turn, rerun_bundle_key
from kernels.contract.wire import Failure
from workers import gpu_health, reruns
from workers.answers import JudgeFault
from workers.inspection.looking import NotInspected
from workers.jail import JailUnavailable
from workers.measuring import Measured

EVENT: TypeAdapter[Any] = TypeAdapter(Event)
PLAN = b"a packed plan"
DIGEST = hashlib.sha256(PLAN).hexdigest()
RIGHT = (CaseResult(case="tiny", kind="test", verdict=Verdict.ACCEPTED),)
WRONG = (CaseResult(case="tiny", kind="test", verdict=Verdict.WRONG_ANSWER, reason="off"),)
TURNS = (Turn(submission="s1", round=1), Turn(submission="s2", round=1))


def job(kind: RerunKind = RerunKind.MEASURE, **changes: Any) -> Rerun:
    plans = tuple(RerunPlan(submission=name, digest=DIGEST) for name in ("s1", "s2"))
    values: dict[str, Any] = {
        "id": "r1",
        "attempt": 1,
        "kind": kind,
        "task": "softmax",
        "task_version": Catalog()["softmax"].task.version,
        "device": DeviceName.H200,
        "plans": plans,
        "turns": () if kind.inspects else TURNS,
    }
    return Rerun(**(values | changes))


Run = Callable[[Rerun], list[Any]]


@pytest.fixture
def run(
    connection: redis.Redis, redis_url: str, tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> Run:
    """Runs the job with its plans in Redis; what it said."""
    monkeypatch.setenv("KERNELJUDGE_REDIS_URL", redis_url)
    monkeypatch.setenv("KERNELJUDGE_DATA_DIR", str(tmp_path))
    monkeypatch.setenv("KERNELJUDGE_MEASURE_SERVER", "measure-0")
    monkeypatch.setattr(reruns, "die_with_parent", lambda: None)
    (tmp_path / "run").mkdir()

    def go(wanted: Rerun) -> list[Any]:
        for plan in wanted.plans:
            connection.set(rerun_bundle_key(wanted.id, plan.submission), PLAN)
        reruns.rerun(wanted.model_dump(mode="json"))
        entries: Any = connection.xrange(STREAM)
        return [EVENT.validate_json(fields[b"event"]) for _, fields in entries]

    return go


def answers(monkeypatch: pytest.MonkeyPatch, *found: Measured | Exception) -> None:
    """What the measurer says, turn by turn, in place of a healthy GPU."""
    left = iter(found)

    def measure(*_: Any) -> Measured:
        answer = next(left)
        if isinstance(answer, Exception):
            raise answer
        return answer

    monkeypatch.setattr(reruns, "run_measure", measure)
    monkeypatch.setattr(gpu_health, "problem", lambda measurer: "")


def measured(cases: tuple[CaseResult, ...], failure: Failure | None = None) -> Measured:
    return Measured(cases, failure, None, "printed\n", GpuSeconds.of(timing=1.5))


def test_every_turn_is_a_sitting_in_the_order_given(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    late = Failure(verdict="timeout", reason="it did not end")
    answers(monkeypatch, measured(WRONG), measured((), late))
    said = run(job())
    assert [event.kind for event in said] == ["rerun", "sitting", "rerun", "sitting", "rerun_end"]
    first, second = said[1], said[3]
    assert (first.turn, second.turn) == TURNS
    assert (first.report.submission, first.report.attempt) == ("s1", 1)
    assert (first.report.verdict, first.report.log) == (Verdict.WRONG_ANSWER, "printed\n")
    assert second.report.verdict is Verdict.TIMEOUT
    assert (said[-1].fault, said[-1].gpu_seconds) == ("", 3.0)


def test_a_plan_that_does_not_fit_the_judge_any_more_holds_nobody(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    refused = Failure(verdict="rejected", reason="the plan leaves out case new")
    answers(monkeypatch, measured((), refused))
    said = run(job())
    assert [event.kind for event in said] == ["rerun", "rerun_end"]
    assert said[-1].final
    assert said[-1].fault == "the plan of s1: the plan leaves out case new"


def test_kernels_whose_assertions_flood_the_log_fail_alone(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As workers.measuring reports them: whoever is measured with them is measured all the same."""
    flood = Failure(verdict="runtime_error", reason="printed more than 1 MiB")
    answers(monkeypatch, measured((), flood), measured(WRONG))
    said = run(job())
    assert [event.kind for event in said] == ["rerun", "sitting", "rerun", "sitting", "rerun_end"]
    assert [said[place].report.verdict for place in (1, 3)] == [
        Verdict.RUNTIME_ERROR, Verdict.WRONG_ANSWER,
    ]  # fmt: skip
    assert not said[-1].fault


@pytest.mark.parametrize(
    ("error", "fault"),
    [
        (JudgeFault("the measurer failed"), "the measurer failed"),
        (JailUnavailable("no server"), "the jail of this worker does not answer"),
        (RuntimeError("secret"), "a worker failed; its log says why"),
    ],
)
def test_our_own_faults_end_the_attempt_and_keep_what_was_measured(
    run: Run, monkeypatch: pytest.MonkeyPatch, error: Exception, fault: str
) -> None:
    answers(monkeypatch, measured(WRONG), error)
    said = run(job())
    assert [event.kind for event in said] == ["rerun", "sitting", "rerun", "rerun_end"]
    assert (said[-1].fault, said[-1].final) == (fault, False)


def test_a_plan_that_is_not_the_one_asked_for_is_not_measured(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    answers(monkeypatch, measured(RIGHT))
    other = RerunPlan(submission="s1", digest="0" * 64)
    said = run(job(plans=(other,), turns=TURNS[:1]))
    assert said[-1].fault == "the stored plan is not in Redis"


def test_another_version_of_the_task_is_refused(run: Run) -> None:
    assert "update both to one release" in run(job(task_version=999))[-1].fault


def test_a_rerun_that_another_holds_is_left_alone(run: Run, connection: redis.Redis) -> None:
    connection.set(lease_key("r1", 1), "another")
    assert run(job()) == []


def test_an_inspection_is_said_with_its_result(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    found = Inspection(tool="compute-sanitizer", cases=("tiny",), seconds=1.0)
    looks: list[Any] = []

    def look(wanted: Any) -> Inspection:
        looks.append(wanted)
        return found

    monkeypatch.setattr(reruns, "unavailable", lambda *_: "")
    monkeypatch.setattr(reruns, "look", look)
    said = run(job(RerunKind.MEMCHECK, configs={"tiny": {"kernel": "BLOCK: 4"}}))
    assert said[-1].inspection.cases == ("tiny",)
    assert said[-1].inspection.worker
    [wanted] = looks
    assert (wanted.bundle, wanted.gpu) == (PLAN, 0)
    assert wanted.configs == {"tiny": {"kernel": "BLOCK: 4"}}
    assert wanted.lock is not None


def test_inspections_are_off_unless_the_operator_wants_them(run: Run) -> None:
    last = run(job(RerunKind.MEMCHECK))[-1]
    assert last.final
    assert "KERNELJUDGE_INSPECT=on" in last.fault


def test_a_tool_that_cannot_look_is_a_final_refusal(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    def look(_: Any) -> Inspection:
        raise NotInspected("the counters are for administrators")

    monkeypatch.setattr(reruns, "unavailable", lambda *_: "")
    monkeypatch.setattr(reruns, "look", look)
    last = run(job(RerunKind.PROFILE))[-1]
    assert (last.fault, last.final) == ("the counters are for administrators", True)
