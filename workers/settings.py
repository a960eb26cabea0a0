"""Settings of a host's workers, read once from the environment."""

import os
import socket
from dataclasses import dataclass, field
from pathlib import Path

import redis
from redis.backoff import ExponentialBackoff
from redis.retry import Retry

from kernels.logs import LogFormat
from kernels.secret_files import with_secrets

ROOT = Path(__file__).resolve().parent.parent
"""The source tree; workers always run from it."""

_TASKS = ROOT / "kernels" / "tasks"


@dataclass(frozen=True)
class Settings:
    """What an operator may choose; every field names its environment variable."""

    data_dir: Path
    """KERNELJUDGE_DATA_DIR: where the embedded Redis and the fork servers keep their sockets."""
    redis_url: str = field(repr=False)
    """KERNELJUDGE_REDIS_URL; by default the embedded server's socket in the data directory."""
    build_workers: int
    """KERNELJUDGE_BUILD_WORKERS: submissions built at once; by default one per two cores."""
    unsafe: bool
    """WORKER_JAIL=unsafe: start even if the jail lacks a required layer. For a laptop only."""
    gpu: bool
    """KERNELJUDGE_GPU=off keeps the workers away from a GPU that is there."""
    host: str
    """KERNELJUDGE_HOST_NAME: how this host is shown."""
    inspect: bool = False
    """KERNELJUDGE_INSPECT=on: look at plans with compute-sanitizer and ncu, which no jail holds."""
    log: LogFormat = "text"
    """KERNELJUDGE_LOG: `text` for people, `json` for one object a line."""
    tasks_dir: Path = _TASKS
    """KERNELJUDGE_TASKS_DIR: the tasks, a folder each; the service needs the same."""

    @classmethod
    def load(cls) -> "Settings":
        """From the environment; ValueError names the variable that is wrong."""
        data_dir = Path(os.environ.get("KERNELJUDGE_DATA_DIR", ROOT / "var")).resolve()
        jail = os.environ.get("WORKER_JAIL", "strict")
        if jail not in ("strict", "unsafe"):
            raise ValueError(f"WORKER_JAIL={jail}: it must be 'strict' or 'unsafe'")
        gpu = os.environ.get("KERNELJUDGE_GPU", "auto")
        if gpu not in ("auto", "off"):
            raise ValueError(f"KERNELJUDGE_GPU={gpu}: it must be 'auto' or 'off'")
        inspect = os.environ.get("KERNELJUDGE_INSPECT", "off")
        if inspect not in ("on", "off"):
            raise ValueError(f"KERNELJUDGE_INSPECT={inspect}: it must be 'on' or 'off'")
        default_builders = max(1, (os.cpu_count() or 1) // 2)
        return cls(
            data_dir=data_dir,
            redis_url=with_secrets().get("KERNELJUDGE_REDIS_URL")
            or f"unix://{data_dir}/redis.sock",
            build_workers=_count("KERNELJUDGE_BUILD_WORKERS", default_builders),
            unsafe=jail == "unsafe",
            gpu=gpu == "auto",
            host=os.environ.get("KERNELJUDGE_HOST_NAME") or socket.gethostname(),
            inspect=inspect == "on",
            log=_log_format(),
            tasks_dir=Path(os.environ.get("KERNELJUDGE_TASKS_DIR") or _TASKS).resolve(),
        )

    @property
    def runtime_dir(self) -> Path:
        """Sockets and locks of this host's fork servers."""
        return self.data_dir / "run"

    def connect(self, *, patient: bool = True) -> redis.Redis:
        """A connection that outlasts a restart of Redis: it tries for about a minute, or once."""
        patience = Retry(ExponentialBackoff(cap=2.0, base=0.05), retries=40 if patient else 1)
        errors = [redis.ConnectionError, redis.TimeoutError, redis.BusyLoadingError]
        return redis.Redis.from_url(self.redis_url, retry=patience, retry_on_error=errors)


def _count(name: str, default: int) -> int:
    text = os.environ.get(name)
    if text is None:
        return default
    if not text.isdigit() or not 0 < int(text) <= 256:
        raise ValueError(f"{name}={text}: it must be a number from 1 to 256")
    return int(text)


def _log_format() -> LogFormat:
    match os.environ.get("KERNELJUDGE_LOG") or "text":
        case "text" | "json" as known:
            return known
        case other:
            raise ValueError(f"KERNELJUDGE_LOG={other}: it must be 'text' or 'json'")
