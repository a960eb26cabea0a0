"""`python -m workers`: starts and keeps alive everything that a worker host runs.

Fork servers first, since they probe the jail and refuse to start where a layer is missing; then
one RQ worker per queue. What dies is started again; SIGTERM lets the jobs at hand finish.
"""

import fcntl
import logging
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from kernels import logs
from workers import ceilings, gpu_health, gpu_lock, servers
from workers.answers import JudgeFault
from workers.gpus import Gpu, find_gpus
from workers.heartbeat import Heartbeat
from workers.host import QueueWorker, queue_workers, tend
from workers.jail import JailClient, JailLevel, JailRefused, probe
from workers.keeper import ServerKeeper
from workers.settings import Settings

_log = logging.getLogger("workers")
_GPU_WAIT_S = 120.0
_LOOK_S = 0.5
"""How often the processes are looked at."""


def main() -> int:
    """Run until SIGTERM or SIGINT; 0 after a clean end, 1 if this host cannot serve."""
    stopping = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stopping.set())
    try:
        settings = Settings.load()
        logs.configure(settings.log)
        settings.runtime_dir.mkdir(parents=True, exist_ok=True, mode=0o700)
        with _claimed(settings.runtime_dir):
            _serve(settings, stopping)
    except (ValueError, FileNotFoundError, JailRefused) as error:
        _log.error("%s", error)
        return 1
    return 0


@contextmanager
def _claimed(folder: Path) -> Iterator[None]:
    """Hold the folder; ValueError if it is held. Two would take each other's sockets away."""
    with (folder / "lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise ValueError(
                f"other workers run on {folder}: one `python -m workers` serves a whole host; "
                "for a second one set KERNELJUDGE_DATA_DIR to another folder"
            ) from None
        yield


def _serve(settings: Settings, stopping: threading.Event) -> None:
    level = probe()
    if level.missing and not settings.unsafe:
        raise JailRefused(f"untrusted code is refused on this machine\n{level.describe()}")
    _log.info("%s", level.describe())
    gpus, notes = find_gpus() if settings.gpu else ([], ["KERNELJUDGE_GPU=off"])
    for note in notes:
        _log.info("%s", note)
    keepers = _start_servers(settings, gpus)
    workers = queue_workers(settings, gpus, _one_line(level))
    connection = settings.connect(patient=False)  # a beat that is missed is followed by the next
    heartbeat = Heartbeat(connection, workers, jail_complete=not level.missing)
    try:
        for keeper in keepers:
            keeper.wait_ready()
        healthy = [gpu for gpu in gpus if _admit(settings, gpu)]
        reached = ceilings.take(settings, healthy)
        for worker in workers:
            worker.ceilings = reached.get(worker.gpu.index) if worker.gpu else None
        _keep_alive(workers, heartbeat, stopping)
    finally:
        for worker in workers:
            worker.let_go()
        for worker in workers:
            worker.stop()
        if heartbeat.is_alive():
            heartbeat.stop()
        for keeper in keepers:
            keeper.stop()


def _admit(settings: Settings, gpu: Gpu) -> bool:
    """Whether a GPU is healthy; one that is not is in quarantine until the next start."""
    name = servers.measure_server(gpu)
    note = gpu_health.note_of(settings, name)
    try:
        with gpu_lock.held(name, settings.runtime_dir, _GPU_WAIT_S) as lock:
            measurer = JailClient(servers.socket_of(settings, name), held=(lock,))
            return gpu_health.admit(note, measurer)
    except JudgeFault as error:
        gpu_health.quarantine(note, str(error))
        return False


def _start_servers(settings: Settings, gpus: list[Gpu]) -> list[ServerKeeper]:
    keepers = [
        ServerKeeper(partial(servers.start_build, settings), "build"),
        ServerKeeper(partial(servers.start_interpret, settings), "interpret"),
    ]
    for gpu in (None, *gpus):
        start = partial(servers.start_measure, settings, gpu)
        keepers.append(ServerKeeper(start, servers.measure_server(gpu)))
    for keeper in keepers:
        keeper.start()
    return keepers


def _keep_alive(
    workers: list[QueueWorker], heartbeat: Heartbeat, stopping: threading.Event
) -> None:
    for worker in workers:
        worker.start()
    heartbeat.start()
    _log.info("serving %s", ", ".join(sorted({worker.queue for worker in workers})))
    while not stopping.wait(_LOOK_S):
        tend(workers, draining=heartbeat.draining)


def _one_line(level: JailLevel) -> str:
    return level.describe().replace("\n", "; ")[:500]


if __name__ == "__main__":
    raise SystemExit(main())
