"""What this host's GPUs reach, taken when the workers start and told in every report."""

import logging
import os
from concurrent.futures import ThreadPoolExecutor

from pydantic import ValidationError

from kernels.contract import DEVICES, Ceilings, limits
from kernels.contract.wire import AnswerRefused, CeilingsAnswer, CeilingsRequest
from workers import gpu_lock
from workers.answers import JudgeFault, failure_of
from workers.gpus import Gpu
from workers.jail import JailClient, JailUnavailable, Limits
from workers.servers import measure_server, socket_of
from workers.settings import Settings

VARIABLE = "KERNELJUDGE_CEILINGS"
"""Environment variable that carries them to the queue workers, as JSON."""

_LIMITS = Limits(
    wall_s=60, cpu_s=120, memory_bytes=32 * limits.GIB, processes=512, result_bytes=limits.MIB
)
_PATIENCE_S = 60.0
_log = logging.getLogger(__name__)


def take(settings: Settings, gpus: list[Gpu]) -> dict[int, Ceilings]:
    """Ceilings by number of the GPU, of those that reach what a GPU of their model can.

    About two seconds, for all at once. Without them a GPU measures all the same.
    """
    if not gpus:
        return {}
    with ThreadPoolExecutor(len(gpus)) as pool:
        found = pool.map(lambda gpu: _take(settings, gpu), gpus)
        return {gpu.index: ceilings for gpu, ceilings in zip(gpus, found, strict=True) if ceilings}


def told() -> Ceilings | None:
    """Those of the GPU that this worker serves; None if they are not known."""
    text = os.environ.get(VARIABLE, "")
    try:
        return Ceilings.model_validate_json(text) if text else None
    except ValidationError:
        _log.error("%s is not what it should be", VARIABLE)
        return None


def _take(settings: Settings, gpu: Gpu) -> Ceilings | None:
    name = measure_server(gpu)
    try:
        with gpu_lock.held(name, settings.runtime_dir, _PATIENCE_S) as lock:
            ours = JailClient(socket_of(settings, name), _PATIENCE_S, (lock,))
            outcome = ours.run(CeilingsRequest(device=gpu.device).pack(), _LIMITS)
        failure = failure_of(outcome, _LIMITS, "taking the GPU's ceilings")
        if failure is not None:
            _log.error("GPU %d: no ceilings: %s\n%s", gpu.index, failure.reason, outcome.output)
            return None
        ceilings = CeilingsAnswer.unpack(outcome.result)[0].ceilings
    except (JudgeFault, JailUnavailable, AnswerRefused) as error:
        _log.error("GPU %d: no ceilings: %s", gpu.index, error)
        return None
    problem = ceilings.problem(DEVICES[gpu.device])
    if problem:
        _log.error("GPU %d: %s: its measurements may be off", gpu.index, problem)
        return None
    _log.info(
        "GPU %d reaches %.2f TB/s and %.0f TFLOP/s (%s, %.1f s)",
        gpu.index,
        ceilings.copy_bytes_per_second / 1e12,
        ceilings.matmul_flops_per_second / 1e12,
        ", ".join(ceilings.throttled) or "clocks not held down",
        outcome.wall_s,
    )
    return ceilings
