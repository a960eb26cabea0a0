"""`python -m workers.alive`: whether this host's workers serve, for a container's health check."""

import sys

import redis
from pydantic import ValidationError

from kernels.contract import WorkerInfo, worker_key
from workers.settings import Settings

_SERVING = ("idle", "busy")


def problem(settings: Settings) -> str:
    """Why they do not serve, in a sentence; empty if they do."""
    connection = redis.Redis.from_url(settings.redis_url, socket_timeout=5, retry=None)
    try:
        found = [connection.get(key) for key in connection.scan_iter(match=worker_key("*"))]
    except redis.RedisError as error:
        return f"Redis does not answer ({type(error).__name__})"
    finally:
        connection.close()
    states = [info.state for info in map(_read, found) if info and info.host == settings.host]
    if any(state in _SERVING for state in states):
        return ""
    return f"no worker of {settings.host} serves ({', '.join(states) or 'none is known'})"


def _read(data: object) -> WorkerInfo | None:
    try:
        return WorkerInfo.model_validate_json(data) if isinstance(data, bytes) else None
    except ValidationError:
        return None


if __name__ == "__main__":
    sys.exit(problem(Settings.load()) or None)
