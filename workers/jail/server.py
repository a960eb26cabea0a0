"""The program of a fork server: a clean process that preloads modules and serves a socket.

The socket appears under its final name when the server is ready. With --ready-fd, one JSON
line goes to that descriptor: {"level": {...}} when ready, {"refused": "..."} when not.
"""

import argparse
import dataclasses
import gc
import importlib
import json
import logging
import os
import signal
import socket
import sys
from pathlib import Path

from workers.jail import cgroup, linux, warden
from workers.jail.cell import Entry
from workers.jail.environment import environment
from workers.jail.fork_server import ForkServer
from workers.jail.level import JailLevel, Layer
from workers.jail.probe import probe
from workers.jail.profile import Profile
from workers.jail.slots import slot_directory

REFUSED = 3
"""Exit code where the jail would not hold."""

_log = logging.getLogger("workers.jail")
_BACKLOG = 64
_SET_BY_PYTHON = {"LC_CTYPE"}  # where no locale is set


def _start_again_if_unclean(profile: Profile) -> None:
    """Replace this process by one that never held the caller's environment in its memory."""
    clean = environment(profile)
    found = {name: value for name, value in os.environ.items() if name not in _SET_BY_PYTHON}
    if found != {name: value for name, value in clean.items() if name not in _SET_BY_PYTHON}:
        os.execve(sys.executable, sys.orig_argv, clean)


def _die_with(parent: int | None) -> None:
    linux.die_with_parent(signal.SIGKILL)
    if parent is not None and os.getppid() != parent:
        sys.exit("the process that started this server has ended")


def _listen(path: Path) -> socket.socket:
    """Listen under a passing name, so that the final one means ready."""
    early = path.with_suffix(".starting")
    early.unlink(missing_ok=True)
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    listener.bind(str(early))
    listener.listen(_BACKLOG)
    early.rename(path)
    return listener


def _load_entry(path: str) -> Entry:
    module, _, name = path.partition(":")
    entry: Entry = getattr(importlib.import_module(module), name)
    return entry


def _preload(modules: str, entry: str) -> Entry:
    for module in filter(None, modules.split(",")):
        importlib.import_module(module)
    loaded = _load_entry(entry)
    if (threads := len(os.listdir("/proc/self/task"))) > 1:
        _log.warning("preloading started %d threads, which forks lack", threads - 1)
    # All forks share these objects: the collector must not touch their pages.
    gc.collect()
    gc.freeze()
    # What importing printed belongs to this process, not to the first jail.
    sys.stdout.flush()
    sys.stderr.flush()
    return loaded


def _announce(descriptor: int | None, message: dict[str, object]) -> None:
    if descriptor is not None:
        os.write(descriptor, json.dumps(message).encode() + b"\n")
        os.close(descriptor)


def _prepare(runtime_dir: Path) -> Path:
    """Make the runtime folder private and return the mount point of the private roots."""
    mountpoint = runtime_dir / "root"
    mountpoint.mkdir(mode=0o700, parents=True, exist_ok=True)
    runtime_dir.chmod(0o700)
    return mountpoint


def _groups(level: JailLevel) -> Path | None:
    if Layer.CGROUP not in level.layers:
        return None
    groups = cgroup.delegated()
    cgroup.sweep(groups)
    return groups


def _serve(arguments: argparse.Namespace, profile: Profile, level: JailLevel) -> None:
    runtime_dir = arguments.socket.parent
    mountpoint = _prepare(runtime_dir)
    entry = _preload(arguments.preload, arguments.entry)
    slots = slot_directory(runtime_dir)
    groups = _groups(level)
    listener = _listen(arguments.socket)
    service = warden.Service(profile, level, entry, slots, mountpoint, groups)
    server = ForkServer(listener, service)
    _log.info("%s: ready; %s", profile.name, level.describe())
    _announce(arguments.ready_fd, {"level": level.to_json()})
    try:
        server.serve()
    finally:
        arguments.socket.unlink(missing_ok=True)


def _parse(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m workers.jail.server", description=__doc__)
    parser.add_argument("--socket", type=Path, required=True, help="in a folder of its own")
    parser.add_argument("--profile", type=Path, required=True, help="JSON file")
    parser.add_argument("--preload", default="", help="modules, separated by commas")
    parser.add_argument("--entry", required=True, help="package.module:function, bytes -> bytes")
    parser.add_argument("--unsafe", action="store_true", help="run although layers are missing")
    parser.add_argument("--ready-fd", type=int)
    parser.add_argument("--parent", type=int, help="end unless this process is the parent")
    return parser.parse_args(arguments)


def main() -> int:
    """Serve until SIGTERM; the exit code is REFUSED where the jail would not hold."""
    arguments = _parse(None)
    profile = Profile.from_json(arguments.profile.read_text())
    _start_again_if_unclean(profile)
    _die_with(arguments.parent)
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(name)s %(message)s")
    arguments.socket = arguments.socket.absolute()
    level = probe()
    level = dataclasses.replace(level, unsafe=arguments.unsafe and bool(level.missing))
    if level.missing and not level.unsafe:
        message = f"untrusted code is refused on this machine\n{level.describe()}"
        _log.error("%s: %s", profile.name, message)
        _announce(arguments.ready_fd, {"refused": message})
        return REFUSED
    _serve(arguments, profile, level)
    return 0


if __name__ == "__main__":
    sys.exit(main())
