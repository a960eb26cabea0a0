"""Looks at what the workers of this host need: jail, Redis, GPUs."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import redis

from kernels.contract.finding import Finding
from workers.gpus import device_of
from workers.jail import JailLevel, probe
from workers.settings import Settings

_LEAST_DRIVER = 580


def look() -> Iterator[Finding]:
    """Everything, by the settings in the environment; never raises."""
    try:
        settings = Settings.load()
    except ValueError as error:
        yield Finding(
            subject="settings", state="failure", detail=str(error), remedy="Set it as it says."
        )
        return
    yield _jail(probe(), settings)
    yield _queue(settings)
    yield from _gpus(settings)


def _jail(level: JailLevel, settings: Settings) -> Finding:
    detail, *remedies = level.describe().splitlines()
    if not level.missing:
        return Finding(subject="jail", state="ok", detail=detail)
    return Finding(
        subject="jail",
        state="warning" if settings.unsafe else "failure",
        detail=detail,
        remedy=" ".join(line.strip() for line in remedies),
    )


def _queue(settings: Settings) -> Finding:
    # Not settings.connect(): that waits for minutes, as a worker should.
    connection = redis.Redis.from_url(settings.redis_url, socket_timeout=5, retry=None)
    try:
        connection.ping()
    except redis.RedisError as error:
        return Finding(
            subject="queue",
            state="failure",
            detail=f"Redis does not answer the workers ({type(error).__name__})",
            remedy="Start the service first, or correct KERNELJUDGE_REDIS_URL.",
        )
    finally:
        connection.close()
    return Finding(subject="queue", state="ok", detail="Redis answers the workers")


def _gpus(settings: Settings) -> Iterator[Finding]:
    if not settings.gpu:
        yield Finding(subject="GPU", state="ok", detail="left alone, as KERNELJUDGE_GPU=off says")
        return
    try:
        import pynvml
    except ImportError:
        yield _no_gpu("nvidia-ml-py is not installed, so none was looked for")
        return
    nvml: Any = pynvml
    try:
        nvml.nvmlInit()
    except nvml.NVMLError as error:
        yield _no_gpu(f"no NVIDIA driver answers ({error})")
        return
    try:
        yield _driver(str(nvml.nvmlSystemGetDriverVersion()))
        for index in range(nvml.nvmlDeviceGetCount()):
            yield from gpu_findings(nvml, index)
    finally:
        nvml.nvmlShutdown()


def _no_gpu(detail: str) -> Finding:
    return Finding(
        subject="GPU",
        state="warning",
        detail=detail,
        remedy="Submissions are checked on the CPU, not measured. To measure, this host needs an "
        "H100 or H200, driver 580 or newer, and pip install -e '.[workers,gpu]'.",
    )


def _driver(version: str) -> Finding:
    good = version.split(".")[0].isdecimal() and int(version.split(".")[0]) >= _LEAST_DRIVER
    return Finding(
        subject="driver",
        state="ok" if good else "failure",
        detail=version,
        remedy="" if good else f"Install driver {_LEAST_DRIVER} or newer.",
    )


def gpu_findings(nvml: Any, index: int) -> Iterator[Finding]:
    """One GPU, through the NVML binding, which was initialised."""
    handle = nvml.nvmlDeviceGetHandleByIndex(index)
    name = str(nvml.nvmlDeviceGetName(handle))
    subject = f"GPU {index}"
    known = device_of(name) is not None
    yield Finding(
        subject=subject,
        state="ok" if known else "warning",
        detail=name,
        remedy="" if known else "It is no H100 or H200, so nothing is measured on it.",
    )
    yield _mig(nvml, handle, subject)
    yield _alone(nvml, handle, subject)
    yield _memory_errors(nvml, handle, subject)
    yield _clocks(nvml, handle, subject)


def _asked(nvml: Any, question: str, *arguments: Any) -> Any:
    """The driver's answer; None where this GPU or this user gets none."""
    try:
        return getattr(nvml, question)(*arguments)
    except nvml.NVMLError:
        return None


def _mig(nvml: Any, handle: Any, subject: str) -> Finding:
    mode = _asked(nvml, "nvmlDeviceGetMigMode", handle)
    on = mode is not None and mode[0] == nvml.NVML_DEVICE_MIG_ENABLE
    return Finding(
        subject=f"{subject}, MIG",
        state="failure" if on else "ok",
        detail="on" if on else "off",
        remedy="A part of a GPU has other limits: nvidia-smi -mig 0." if on else "",
    )


def _alone(nvml: Any, handle: Any, subject: str) -> Finding:
    running = _asked(nvml, "nvmlDeviceGetComputeRunningProcesses", handle) or []
    others = [process.pid for process in running if not _ours(process.pid)]
    shared = [pid for pid in others if "mps-server" in _command(pid)]
    if not others:
        return Finding(subject=f"{subject}, other processes", state="ok", detail="none")
    what = "the MPS server " if shared else ""
    pids = ", ".join(map(str, others))
    return Finding(
        subject=f"{subject}, other processes",
        state="failure",
        detail=f"{what}{len(others)} use it: {pids}",
        remedy="Times are wrong while others use the GPU: end them"
        + (" (echo quit | nvidia-cuda-mps-control)." if shared else "."),
    )


def _ours(pid: int) -> bool:
    return "workers.jail" in _command(pid)


def _command(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().decode("utf-8", "replace")
    except OSError:
        return ""


def _memory_errors(nvml: Any, handle: Any, subject: str) -> Finding:
    kind, since_boot = nvml.NVML_MEMORY_ERROR_TYPE_UNCORRECTED, nvml.NVML_VOLATILE_ECC
    count = _asked(nvml, "nvmlDeviceGetTotalEccErrors", handle, kind, since_boot)
    return Finding(
        subject=f"{subject}, memory errors",
        state="failure" if count else "ok",
        detail="not counted" if count is None else f"{count} uncorrected since the driver started",
        remedy="Results cannot be trusted: reset or replace the GPU." if count else "",
    )


def _clocks(nvml: Any, handle: Any, subject: str) -> Finding:
    top = _asked(nvml, "nvmlDeviceGetMaxClockInfo", handle, nvml.NVML_CLOCK_SM)
    hot = _asked(nvml, "nvmlDeviceGetTemperature", handle, nvml.NVML_TEMPERATURE_GPU)
    reasons = _asked(nvml, "nvmlDeviceGetCurrentClocksThrottleReasons", handle) or 0
    bad = reasons & (
        nvml.nvmlClocksThrottleReasonHwSlowdown | nvml.nvmlClocksThrottleReasonHwThermalSlowdown
    )
    return Finding(
        subject=f"{subject}, clocks",
        state="warning" if bad else "ok",
        detail=f"at most {top} MHz, {hot} degrees, {'slowed by heat or power' if bad else 'free'}",
        remedy="Cool it, or look at its power supply; scores suffer." if bad else "",
    )
