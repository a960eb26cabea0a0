"""A worker host takes its GPUs' ceilings from the measure server, and does without if it must."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from kernels.contract import DeviceName
from kernels.contract.wire import CeilingsAnswer
from tests.contract.test_ceilings import ceilings
from workers import ceilings as taking
from workers.gpus import Gpu
from workers.jail import Outcome, Status
from workers.settings import Settings

GPUS = [Gpu(i, i, f"GPU-{i}", DeviceName.H200, name="H200", driver="1") for i in (0, 3)]


@pytest.fixture
def settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Settings:
    monkeypatch.setenv("KERNELJUDGE_DATA_DIR", str(tmp_path))
    monkeypatch.setattr("workers.gpu_lock._MACHINE_WIDE", tmp_path / "locks")
    return Settings.load()


def answered(monkeypatch: pytest.MonkeyPatch, *outcomes: Outcome) -> None:
    """Let the measure servers answer so, one after the other; no GPU is needed."""
    left: Iterator[Outcome] = iter(outcomes)
    monkeypatch.setattr("workers.jail.JailClient.run", lambda *_: next(left))


def answer(result: bytes) -> Outcome:
    return Outcome(Status.OK, result=result, wall_s=1.2)


def test_each_gpu_has_its_own(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    packed = CeilingsAnswer(ceilings=ceilings()).pack()
    answered(monkeypatch, answer(packed), answer(packed))
    assert taking.take(settings, GPUS) == {0: ceilings(), 3: ceilings()}
    assert taking.take(settings, []) == {}


@pytest.mark.parametrize(
    "outcome",
    [
        answer(b"no frame"),
        answer(CeilingsAnswer(ceilings=ceilings(copy_bytes_per_second=1e13)).pack()),
        Outcome(Status.TIMEOUT),
        Outcome(Status.SIGNAL, signal=11),
    ],
)
def test_without_ceilings_that_can_be_true_a_gpu_goes_on_without(
    settings: Settings, monkeypatch: pytest.MonkeyPatch, outcome: Outcome
) -> None:
    answered(monkeypatch, outcome)
    assert taking.take(settings, GPUS[:1]) == {}


def test_a_worker_knows_those_of_its_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    for text, known in (("", None), (ceilings().model_dump_json(), ceilings()), ("{", None)):
        monkeypatch.setenv(taking.VARIABLE, text)
        assert taking.told() == known
