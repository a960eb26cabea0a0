"""The processes of one worker host, and how each is started."""

import ctypes
import functools
import logging
import os
import secrets
import signal
import subprocess
import sys
from dataclasses import dataclass, field
from typing import Literal

from kernels.contract import Ceilings
from kernels.contract.rerun import RerunKind
from workers import ceilings, gpu_health
from workers.gpus import Gpu
from workers.inspection.availability import unavailable
from workers.servers import measure_server
from workers.settings import ROOT, Settings

_PR_SET_PDEATHSIG = 1
_log = logging.getLogger(__name__)


@dataclass
class QueueWorker:
    """One RQ worker process; a restart gives it a new name, as RQ asks."""

    settings: Settings
    role: Literal["build", "measure"]
    gpu: Gpu | None
    jail_level: str
    """Shown in every report that this worker writes."""
    name: str = ""
    _process: subprocess.Popen[bytes] | None = field(default=None, repr=False)
    ceilings: Ceilings | None = None
    """What its GPU reached when the workers of this host started."""
    _asked: bool = field(default=False, repr=False)
    """Whether its process was asked to end; asked twice it would drop the job at hand."""

    @functools.cached_property
    def inspections(self) -> dict[RerunKind, str]:
        """Of a measurer: why it does not look at plans in each way, empty where it does."""
        if self.gpu is None:
            return {}
        return {kind: unavailable(self.settings, kind) for kind in RerunKind if kind.inspects}

    @property
    def quarantined(self) -> str:
        """Why its GPU is out of service; '' while it serves."""
        if self.gpu is None:
            return ""
        try:
            return gpu_health.note_of(self.settings, measure_server(self.gpu)).read_text()
        except FileNotFoundError:
            return ""

    @property
    def queue(self) -> str:
        """The queue it serves."""
        return "build" if self.gpu is None else f"measure:{self.gpu.device.value}"

    def start(self) -> None:
        """Start, or start again; one whose GPU is in quarantine only gets its name."""
        self.name = f"{self.settings.host}-{self.role}-{secrets.token_hex(3)}"
        if self.quarantined:
            return
        environment = os.environ | {
            "KERNELJUDGE_JAIL_LEVEL": self.jail_level,
            "KERNELJUDGE_MEASURE_SERVER": measure_server(self.gpu),
            ceilings.VARIABLE: self.ceilings.model_dump_json() if self.ceilings else "",
        }
        self._asked = False
        self._process = subprocess.Popen(
            [sys.executable, "-m", "workers.rq_worker", self.queue, self.name],
            cwd=ROOT,
            env=environment,
            stdin=subprocess.DEVNULL,
            preexec_fn=die_with_parent,
        )

    def alive(self) -> bool:
        """Whether it runs."""
        return self._process is not None and self._process.poll() is None

    def let_go(self) -> None:
        """Ask it to finish the job at hand and end; harmless if repeated."""
        if self.alive() and self._process is not None and not self._asked:
            self._asked = True
            self._process.terminate()

    def stop(self) -> None:
        """The same, and wait for that."""
        self.let_go()
        if self._process is not None:
            self._process.wait()


def die_with_parent() -> None:
    """In a new child: end when its parent does, however that ends."""
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


def queue_workers(settings: Settings, gpus: list[Gpu], jail_level: str) -> list[QueueWorker]:
    """Build workers as the settings say, and one measuring worker per GPU."""
    builders = [
        QueueWorker(settings, "build", None, jail_level) for _ in range(settings.build_workers)
    ]
    return builders + [QueueWorker(settings, "measure", gpu, jail_level) for gpu in gpus]


def tend(workers: list[QueueWorker], *, draining: bool) -> None:
    """Start again what has ended; let go of what is to take no more jobs."""
    for worker in workers:
        if worker.quarantined:
            worker.stop()  # at once: what it took since would be measured on a sick GPU
        elif draining:
            worker.let_go()
        elif not worker.alive():
            _log.warning("worker %s ended; starting another", worker.name)
            worker.start()
