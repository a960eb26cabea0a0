"""What a jail may see, and how much it may use."""

import json
import sys
import sysconfig
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any, Self

_MIB = 1 << 20


def _load_object(text: str, known: set[str], what: str) -> dict[str, Any]:
    loaded = json.loads(text)
    if not isinstance(loaded, dict) or not set(loaded) <= known:
        raise ValueError(f"{what}: expected a JSON object with keys among {sorted(known)}")
    return loaded


@dataclass(frozen=True)
class Profile:
    """What every jail of one server may reach; all else does not exist inside."""

    name: str
    readable: tuple[Path, ...]
    """Files and folders visible read-only, at the same paths."""
    executable: tuple[Path, ...] = ()
    """Files that may be run; scripts and interpreters only by naming both."""
    devices: tuple[Path, ...] = ()
    """Device nodes opened for reading and writing."""
    cuda_sockets: bool = False
    """Grant what libcuda needs: sequenced Unix sockets, memfd, writing under /proc/self."""
    env: Mapping[str, str] = field(default_factory=dict)
    """The whole environment, but for the variables that name the scratch folder."""

    def __post_init__(self) -> None:
        for path in (*self.readable, *self.executable, *self.devices):
            if not path.is_absolute():
                raise ValueError(f"profile {self.name}: {path} must be an absolute path")
            if not path.exists():
                raise ValueError(f"profile {self.name}: {path} does not exist on this machine")

    @property
    def machine_proc(self) -> tuple[Path, ...]:
        """Readable paths below /proc: facts about the machine, which are hidden otherwise."""
        return tuple(path for path in self.readable if path.is_relative_to("/proc"))

    def to_json(self) -> str:
        """The profile as a JSON object; paths as strings."""
        return json.dumps(asdict(self), default=str)

    @classmethod
    def from_json(cls, text: str) -> Self:
        """Read what `to_json` wrote; ValueError for anything else."""
        loaded = _load_object(text, {f.name for f in fields(cls)}, "profile")
        for key in ("readable", "executable", "devices"):
            loaded[key] = tuple(Path(path) for path in loaded.get(key, ()))
        return cls(**loaded)


@dataclass(frozen=True)
class Limits:
    """What one run may use; every field is a positive whole number."""

    wall_s: int = 30
    """Seconds from the fork to the end."""
    cpu_s: int = 60
    """Processor seconds of all processes together."""
    still_s: int = 600
    """Seconds in which next to no processor time is used."""
    memory_bytes: int = 4096 * _MIB
    """Resident bytes of all processes, with what the server preloaded; data of each."""
    processes: int = 64
    """Processes and threads."""
    open_files: int = 256
    """Descriptors of each process."""
    file_bytes: int = 64 * _MIB
    """Size of one file."""
    scratch_bytes: int = 256 * _MIB
    """Everything in the scratch folder."""
    scratch_inodes: int = 16384
    """Files and folders in the scratch folder."""
    output_bytes: int = _MIB
    """Standard output and error together; more ends the run."""
    result_bytes: int = 32 * _MIB
    """What the entry function returns."""

    def __post_init__(self) -> None:
        for name, value in asdict(self).items():
            if type(value) is not int or value <= 0:
                raise ValueError(f"limits: {name} must be a positive whole number, not {value!r}")

    def to_json(self) -> str:
        """The limits as a JSON object."""
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, text: str) -> Self:
        """Read what `to_json` wrote; missing fields get defaults, ValueError for the rest."""
        return cls(**_load_object(text, {f.name for f in fields(cls)}, "limits"))


def interpreter_paths() -> tuple[Path, ...]:
    """What a forked interpreter reads: its own folders, the system's libraries, CPU facts.

    The folder of the project is left out: it holds what a submission must not see.
    """
    prefixes = {Path(sys.prefix), Path(sys.base_prefix)}
    shared = {Path("/usr"), Path("/usr/local")}  # which hold much else: their libraries are enough
    own = [prefix / "lib" if prefix in shared else prefix for prefix in sorted(prefixes)]
    packages = [sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib")]
    system = ("/lib", "/lib64", "/usr/lib", "/usr/lib64", "/etc/ld.so.cache")
    names = (*packages, *system, "/sys/devices/system/cpu")
    candidates = dict.fromkeys([*own, *(Path(name) for name in names)])
    return tuple(path for path in candidates if path.exists())
