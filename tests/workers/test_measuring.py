"""The measuring job around the GPU: what a measurer answers becomes the report of the attempt."""

from pathlib import Path
from typing import Any, Literal

import pytest
import redis
from pydantic import TypeAdapter

from kernels.catalog import Catalog
from kernels.contract import (
    STREAM,
    Bundle,
    CaseResult,
    Event,
    GpuSeconds,
    InstructionMix,
    Kernel,
    Report,
    Submission,
    Target,
    Verdict,
)
from kernels.contract.wire import Failure, Rebuilt
from tests.contract import examples as a
from workers import gpu_health, jobs, reports
from workers.events import BuildNote, Publisher
from workers.measuring import Measured
from workers.rebuilding import Provenance, Review

EVENT: TypeAdapter[Any] = TypeAdapter(Event)
MIX = InstructionMix(total=9, wgmma=0, mma=0, tma=0, async_copies=0, local=0, special=1)
WRONG = (CaseResult(case="tiny", kind="test", verdict=Verdict.WRONG_ANSWER, reason="off"),)
GPU = GpuSeconds(total=1.5, timing=1.0, overhead=0.5)
LATE = Failure(verdict="timeout", reason="a kernel did not end")


def review(outcome: Literal["identical", "different", "not rebuilt"]) -> Review:
    reason = "" if outcome == "identical" else "its machine code is not Triton's"
    kernels = {a.SHA: Rebuilt(cubin=a.SHA, mix=MIX)} if outcome == "identical" else {}
    provenance = Provenance(outcome=outcome, reason=reason, kernels=kernels)
    return Review(provenance, dict.fromkeys(kernels, b"listing"))


@pytest.fixture
def measure(
    connection: redis.Redis,
    redis_url: str,
    submission: Submission,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> Any:
    """Runs the job on a plan in Redis, with answers in place of a sound GPU and the build jail."""
    version = Catalog()["softmax"].task.version
    submission = submission.model_copy(update={"measured": True, "task_version": version})
    target = Target(device="H200", architecture="sm_90a", triton=reports.version("triton"))
    bundle = Bundle(plan=a.plan(target=target), blobs={a.SHA: a.CUBIN})
    publisher = Publisher(connection, submission, "builder")
    publisher.note_build(BuildNote(seconds=0.5, cached=True, log="built\n"))
    publisher.built(bundle.pack(), "0" * 64)
    monkeypatch.setenv("KERNELJUDGE_REDIS_URL", redis_url)
    monkeypatch.setenv("KERNELJUDGE_MEASURE_SERVER", "measure-0")
    monkeypatch.setenv("KERNELJUDGE_DATA_DIR", str(tmp_path))
    monkeypatch.setattr(gpu_health, "problem", lambda *_: "")
    monkeypatch.setattr(jobs, "_die_with_parent", lambda: None)

    def run(found: Review, cases: tuple[CaseResult, ...], failure: Failure | None) -> Report:
        measured = Measured(cases, failure, None, "measured\n", GPU)
        monkeypatch.setattr(jobs, "rebuild", lambda *_: found)
        monkeypatch.setattr(jobs, "run_measure", lambda *_: measured)
        jobs.measure(submission.model_dump(mode="json"))
        entries: Any = connection.xrange(STREAM)
        *_, (_, last) = entries
        report = EVENT.validate_json(last[b"event"]).report
        assert isinstance(report, Report)
        return report

    return run


def test_a_report_tells_of_build_measuring_and_provenance(measure: Any) -> None:
    report = measure(review("identical"), WRONG, None)
    assert report.verdict is Verdict.WRONG_ANSWER
    assert report.rebuilt == "identical"
    assert report.plan_cached
    assert report.log == "built\nmeasured\n"
    assert (report.durations.build, report.durations.measure) == (0.5, 1.5)
    assert report.gpu == GPU
    assert report.kernels[0].mix == MIX


@pytest.mark.parametrize("outcome", ["different", "not rebuilt"])
@pytest.mark.parametrize(("cases", "failure"), [(WRONG, None), ((), LATE)])
def test_a_plan_that_triton_did_not_make_is_rejected(
    measure: Any, outcome: Any, cases: Any, failure: Any
) -> None:
    report = measure(review(outcome), cases, failure)
    assert (report.verdict, report.rebuilt) == (Verdict.REJECTED, outcome)
    assert report.reason == "its machine code is not Triton's"
    assert report.cases == cases


def test_what_the_measurer_gives_up_fails(measure: Any) -> None:
    report = measure(review("identical"), (), LATE)
    assert (report.verdict, report.reason) == (Verdict.TIMEOUT, LATE.reason)


def test_the_disassembly_joins_the_plan(measure: Any, connection: redis.Redis) -> None:
    measure(review("identical"), WRONG, None)
    packed = connection.get("bundle:s1-1")
    assert isinstance(packed, bytes)
    kernel: Kernel = Bundle.unpack(packed).plan.kernels[a.SHA]
    assert set(kernel.texts) == {"sass"}
