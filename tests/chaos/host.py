"""`python -m workers` with one stand-in GPU, which two measurers serve."""

from kernels.contract import DeviceName
from tests.chaos import stand_in
from workers import __main__ as program
from workers import servers
from workers.gpus import Gpu
from workers.host import QueueWorker, queue_workers
from workers.jail import Profile, ServerProcess, start_server
from workers.settings import Settings

_GPU = Gpu(99, 99, "GPU-99", DeviceName.H200, name="stand-in", driver="none")


def _start_measure(settings: Settings, gpu: Gpu | None) -> ServerProcess:
    if gpu is None:
        return _start_real(settings, None)
    folder = settings.data_dir / "gpu"
    folder.mkdir(exist_ok=True)
    profile = Profile(
        name=servers.measure_server(gpu),
        readable=(*servers._readable(), settings.tasks_dir, folder),
        env=servers._environment(STAND_IN_GPU=str(folder)),
    )
    return start_server(
        settings.runtime_dir,
        profile.name,
        profile,
        preload=(),
        entry=f"{stand_in.__name__}:run",
    )


def _queue_workers(settings: Settings, gpus: list[Gpu], level: str) -> list[QueueWorker]:
    return queue_workers(settings, [*gpus, *gpus], level)


if __name__ == "__main__":
    _start_real = servers.start_measure
    servers.start_measure = _start_measure
    vars(program)["find_gpus"] = lambda: ([_GPU], [])
    vars(program)["queue_workers"] = _queue_workers
    raise SystemExit(program.main())
