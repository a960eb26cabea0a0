"""The fork servers of a host: what each may see, and how it is started."""

import os
import sysconfig
from pathlib import Path

from workers.gpus import Gpu
from workers.jail import Profile, ServerProcess, interpreter_paths, start_server
from workers.settings import ROOT, Settings

_CODE = (ROOT / "workers", ROOT / "kernels" / "__init__.py", ROOT / "kernels" / "contract")
"""Our own code that an inmate runs; never the tasks, which hold references and solutions."""

_CUDA_NODES = ("/dev/nvidiactl", "/dev/nvidia-uvm")


def socket_of(settings: Settings, name: str) -> Path:
    """Where a fork server of this host listens."""
    return settings.runtime_dir / f"{name}.sock"


def start_build(settings: Settings) -> ServerProcess:
    """The server that compiles submissions: no GPU, only assembler and disassembler may be run."""
    profile = Profile(
        name="build",
        readable=_readable(),
        executable=(_triton_tool("ptxas"), _triton_tool("nvdisasm")),
        env=_environment(),
    )
    return _start(settings, profile, "workers.build.prewarm", "workers.build.main:run")


def start_interpret(settings: Settings) -> ServerProcess:
    """The server that runs submissions on CPU tensors."""
    profile = Profile(
        name="interpret",
        readable=_readable(),
        env=_environment(TRITON_INTERPRET="1"),
    )
    return _start(settings, profile, "workers.interpret.prewarm", "workers.interpret.main:run")


def start_measure(settings: Settings, gpu: Gpu | None) -> ServerProcess:
    """The server of our own code beside the GPU; without one it compares on the CPU."""
    readable = (*_readable(), settings.tasks_dir)
    name = measure_server(gpu)
    if gpu is None:
        profile = Profile(name=name, readable=readable, env=_environment())
    else:
        nodes = (*_CUDA_NODES, f"/dev/nvidia{gpu.minor}")
        profile = Profile(
            name=name,
            readable=(*readable, *_driver_paths()),
            devices=tuple(Path(node) for node in nodes),
            cuda_sockets=True,
            env=_environment(
                # Not its number: where no other GPU can be seen, each is the first.
                CUDA_VISIBLE_DEVICES=gpu.uuid,
                LD_LIBRARY_PATH=os.environ.get("LD_LIBRARY_PATH", ""),
            ),
        )
    return _start(settings, profile, "workers.measure.prewarm", "workers.measure.main:run")


def measure_server(gpu: Gpu | None) -> str:
    """Name of the measuring server of one GPU, or of the one without."""
    return "measure" if gpu is None else f"measure-{gpu.index}"


def _start(settings: Settings, profile: Profile, preload: str, entry: str) -> ServerProcess:
    return start_server(
        settings.runtime_dir,
        profile.name,
        profile,
        preload=(preload,),
        entry=entry,
        unsafe=settings.unsafe,
    )


def _readable() -> tuple[Path, ...]:
    return (*interpreter_paths(), *_CODE, *(Path(path) for path in _extra_site()))


def _environment(**more: str) -> dict[str, str]:
    """All that a fork server inherits: no address, no password, nothing that redirects code."""
    return {
        "PATH": "/usr/bin:/bin",
        "LANG": "C.UTF-8",
        "PYTHONPATH": os.pathsep.join([str(ROOT), *_extra_site()]),
        "PYTHONDONTWRITEBYTECODE": "1",
        "OMP_NUM_THREADS": "1",
        **more,
    }


def _extra_site() -> list[str]:
    """Package folders given by PYTHONPATH, where packages are not installed in the interpreter."""
    paths = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    return [os.path.abspath(path) for path in paths if path]


def _triton_tool(name: str) -> Path:
    for site in (*_extra_site(), sysconfig.get_path("purelib")):
        tool = Path(site) / "triton" / "backends" / "nvidia" / "bin" / name
        if tool.exists():
            return tool
    raise FileNotFoundError(f"Triton's {name} is not installed: pip install '.[workers]'")


def _driver_paths() -> list[Path]:
    candidates = ("/usr/local/nvidia", "/usr/lib/x86_64-linux-gnu")
    return [Path(path) for path in candidates if os.path.exists(path)]
