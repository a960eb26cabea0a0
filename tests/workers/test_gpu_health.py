"""A GPU is asked after a suspicious end, and only then; one that fails twice leaves service."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from kernels.contract import CaseResult, GpuSeconds, Verdict
from kernels.contract.wire import Failure
from workers import gpu_health
from workers.answers import JudgeFault
from workers.jail import JailClient, Profile, interpreter_paths, probe, start_server
from workers.measuring import Measured
from workers.servers import _environment


@dataclass
class Gpu:
    """A stand-in behind a real jail."""

    folder: Path
    client: JailClient
    left: int = 0

    @property
    def note(self) -> Path:
        return self.folder / "measure-0.sick"

    def falls_ill(self, text: str) -> None:
        (self.folder / "illness").write_text(text)

    def watched(self, measure: Callable[[], Measured]) -> Measured:
        return gpu_health.watched(measure, self.client, self.note, self.leave)

    def leave(self) -> None:
        self.left += 1


@pytest.fixture
def gpu(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Gpu]:
    if probe().missing:
        pytest.skip("no jail here")
    monkeypatch.setattr(gpu_health, "_BETWEEN_S", 0.05)
    folder = tmp_path / "gpu"
    folder.mkdir()
    profile = Profile(
        name="measure-0",
        readable=(*interpreter_paths(), folder),
        env=_environment(STAND_IN_GPU=str(folder)),
    )
    server = start_server(tmp_path / "run", "measure-0", profile, (), "tests.workers.sick_gpu:run")
    gpu = Gpu(folder, JailClient(server.socket))
    gpu.falls_ill("")
    yield gpu
    server.stop()


def measured(verdict: Verdict, failure: Failure | None = None) -> Measured:
    reason = "" if verdict.passed else "it is so"
    case = CaseResult(case="c", kind="test", verdict=verdict, reason=reason)
    return Measured((case,), failure, None, "", GpuSeconds(total=0))


@pytest.mark.parametrize("verdict", [Verdict.ACCEPTED, Verdict.WRONG_ANSWER])
def test_after_an_ordinary_end_nobody_asks(gpu: Gpu, verdict: Verdict) -> None:
    gpu.falls_ill("not seen")
    assert gpu.watched(lambda: measured(verdict)).cases[0].verdict is verdict
    assert not gpu.note.exists()


@pytest.mark.parametrize("verdict", [Verdict.TIMEOUT, Verdict.RUNTIME_ERROR])
def test_a_healthy_gpu_leaves_the_blame_where_it_is(gpu: Gpu, verdict: Verdict) -> None:
    assert gpu.watched(lambda: measured(verdict)).cases[0].verdict is verdict
    assert not gpu.note.exists()


@pytest.mark.parametrize("illness", ["wrong sums", "dies"])
def test_a_sick_one_takes_the_blame_and_leaves(gpu: Gpu, illness: str) -> None:
    gpu.falls_ill(illness)
    with pytest.raises(JudgeFault, match="not healthy"):
        gpu.watched(lambda: measured(Verdict.TIMEOUT))
    assert gpu.left == 1
    assert ("exit code 1" if illness == "dies" else illness) in gpu.note.read_text()
    with pytest.raises(gpu_health.OutOfService):
        gpu.watched(lambda: measured(Verdict.ACCEPTED))


def test_after_a_fault_of_the_judge_it_is_asked_too(gpu: Gpu) -> None:
    def fault() -> Measured:
        raise JudgeFault("the measurer died")

    with pytest.raises(JudgeFault, match="the measurer died"):
        gpu.watched(fault)
    gpu.falls_ill("lost")
    with pytest.raises(JudgeFault, match="not healthy"):
        gpu.watched(fault)


def test_failing_once_is_forgiven(gpu: Gpu, monkeypatch: pytest.MonkeyPatch) -> None:
    gpu.falls_ill("for a moment")
    monkeypatch.setattr("time.sleep", lambda seconds: gpu.falls_ill(""))
    assert gpu_health.problem(gpu.client) == ""


def test_the_next_start_asks_again(gpu: Gpu) -> None:
    gpu.falls_ill("wrong sums")
    assert not gpu_health.admit(gpu.note, gpu.client)
    assert gpu.note.read_text() == "wrong sums"
    gpu.falls_ill("")
    assert gpu_health.admit(gpu.note, gpu.client)
    assert not gpu.note.exists()
