"""What `kerneljudge doctor` finds of a worker host."""

import os
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from kernels.contract.finding import Finding
from workers import doctor


class NvmlError(Exception):
    """What the binding raises."""


def nvml(**answers: Any) -> Any:
    """Stands in for the driver's binding where there is no GPU: a sound H200, but for `answers`."""
    sound = {
        "nvmlDeviceGetHandleByIndex": 0,
        "nvmlDeviceGetName": "NVIDIA H200",
        "nvmlDeviceGetMigMode": [0, 0],
        "nvmlDeviceGetComputeRunningProcesses": [],
        "nvmlDeviceGetTotalEccErrors": 0,
        "nvmlDeviceGetMaxClockInfo": 1980,
        "nvmlDeviceGetTemperature": 40,
        "nvmlDeviceGetCurrentClocksThrottleReasons": 0,
    }

    def answer(value: Any) -> Any:
        def ask(*_: Any) -> Any:
            if isinstance(value, Exception):
                raise value
            return value

        return ask

    return SimpleNamespace(
        NVMLError=NvmlError,
        NVML_DEVICE_MIG_ENABLE=1,
        NVML_MEMORY_ERROR_TYPE_UNCORRECTED=1,
        NVML_VOLATILE_ECC=0,
        NVML_CLOCK_SM=1,
        NVML_TEMPERATURE_GPU=0,
        nvmlClocksThrottleReasonHwSlowdown=8,
        nvmlClocksThrottleReasonHwThermalSlowdown=64,
        **{name: answer(value) for name, value in (sound | answers).items()},
    )


def of_gpu(binding: Any) -> dict[str, Finding]:
    return {finding.subject: finding for finding in doctor.gpu_findings(binding, 0)}


def states(findings: dict[str, Finding]) -> dict[str, str]:
    return {s: f.state for s, f in findings.items() if f.state != "ok"}


def test_a_sound_gpu() -> None:
    assert states(of_gpu(nvml())) == {}


@pytest.mark.parametrize(
    ("answers", "subject", "state"),
    [
        ({"nvmlDeviceGetName": "NVIDIA A100"}, "GPU 0", "warning"),
        ({"nvmlDeviceGetMigMode": [1, 1]}, "GPU 0, MIG", "failure"),
        ({"nvmlDeviceGetTotalEccErrors": 2}, "GPU 0, memory errors", "failure"),
        ({"nvmlDeviceGetCurrentClocksThrottleReasons": 64}, "GPU 0, clocks", "warning"),
    ],
)
def test_what_is_wrong_with_a_gpu(answers: dict[str, Any], subject: str, state: str) -> None:
    findings = of_gpu(nvml(**answers))
    assert states(findings) == {subject: state}
    assert findings[subject].remedy


def test_other_processes_on_a_gpu_are_named() -> None:
    running = [SimpleNamespace(pid=os.getpid())]
    findings = of_gpu(nvml(nvmlDeviceGetComputeRunningProcesses=running))
    assert states(findings) == {"GPU 0, other processes": "failure"}
    assert str(os.getpid()) in findings["GPU 0, other processes"].detail


def test_what_the_driver_does_not_tell_is_no_fault() -> None:
    refused = NvmlError("not supported")
    questions = ("nvmlDeviceGetMigMode", "nvmlDeviceGetTotalEccErrors", "nvmlDeviceGetTemperature")
    assert states(of_gpu(nvml(**dict.fromkeys(questions, refused)))) == {}


def test_a_host_without_a_gpu_or_a_queue(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KERNELJUDGE_DATA_DIR", str(tmp_path))
    monkeypatch.setenv("KERNELJUDGE_GPU", "off")
    findings = {finding.subject: finding for finding in doctor.look()}
    assert findings["queue"].state == "failure"
    assert findings["jail"].state == "ok", "the tests run where the jail is complete"
    assert findings["GPU"].state == "ok"


@pytest.mark.gpu
def test_a_real_gpu_is_fit_to_measure(monkeypatch: pytest.MonkeyPatch) -> None:
    pynvml = pytest.importorskip("pynvml")
    try:
        pynvml.nvmlInit()
    except pynvml.NVMLError as error:
        pytest.skip(f"no GPU: {error}")
    findings = of_gpu(pynvml)
    assert set(states(findings)) <= {"GPU 0, other processes"}, findings
