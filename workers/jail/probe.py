"""Try each layer in a process of its own and say which ones work on this machine."""

import os
import signal
import socket
import tempfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from workers.jail import cgroup, identity, landlock, linux, root, seccomp
from workers.jail.level import JailLevel, Layer
from workers.jail.profile import Limits, Profile

_SECONDS = 10


def _in_child(attempt: Callable[[], None]) -> str | None:
    """Run `attempt` in a fork: None if it worked, otherwise why not."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        message = b"ended without an answer"
        try:
            signal.alarm(_SECONDS)
            attempt()
            message = b""
        except (OSError, ValueError) as error:
            message = str(error).encode()
        finally:
            os.write(writer, b"." + message)
            os._exit(0)
    os.close(writer)
    with open(reader, "rb") as pipe:
        answer = pipe.read()
    os.waitpid(child, 0)
    if not answer:
        return "the attempt was killed"
    return answer[1:].decode(errors="replace") or None


def _privileged() -> None:
    if identity.needs_user_namespace():
        identity.enter_user_namespace(identity.FIRST_UID)


def _expect_refusal(call: Callable[[], object], layer: str) -> None:
    with suppress(OSError):
        call()
        raise ValueError(f"{layer} was accepted but does not refuse anything")


def _uid() -> None:
    _privileged()
    identity.become(identity.FIRST_UID)
    if os.geteuid() != identity.FIRST_UID:
        raise ValueError("the uid did not change")


def _seccomp() -> None:
    linux.set_no_new_privileges()
    seccomp.install(cuda=False)
    _expect_refusal(socket.socket, "seccomp")


def _landlock() -> None:
    if landlock.abi() == 0:
        raise ValueError("this kernel has no Landlock, or it is switched off")
    linux.set_no_new_privileges()
    nothing = Profile(name="probe", readable=())
    landlock.restrict(nothing, Path("/dev/null"), private_root=False)
    _expect_refusal(lambda: os.listdir("/"), "Landlock")


def _namespace(flag: int) -> Callable[[], None]:
    def attempt() -> None:
        _privileged()
        linux.unshare(flag)

    return attempt


def _in_pid_namespace(body: Callable[[], None]) -> None:
    _privileged()
    linux.unshare(linux.CLONE_NEWPID)

    def first() -> None:
        if os.getpid() != 1:
            raise ValueError("the process ids of the host stay visible")
        body()

    if failure := _in_child(first):
        raise ValueError(failure)


def _private_root(*, proc: bool) -> Callable[[], None]:
    def enter() -> None:
        linux.unshare(linux.CLONE_NEWNS)
        nothing = Profile(name="probe", readable=())
        # Any folder serves: what is mounted on it shows in this namespace alone.
        mountpoint = Path(tempfile.gettempdir())
        root.enter(mountpoint, nothing, Limits(), identity.FIRST_UID, proc=proc)

    return lambda: _in_pid_namespace(enter)


def _cgroup() -> None:
    group = cgroup.Group.create(cgroup.delegated(), f"probe-{os.getpid()}", Limits())

    def join() -> None:
        _privileged()
        group.join()

    failure = _in_child(join)
    group.remove()
    if failure:
        raise ValueError(failure)


_ATTEMPTS: dict[Layer, Callable[[], None]] = {
    Layer.UID: _uid,
    Layer.NO_NEW_PRIVS: linux.set_no_new_privileges,
    Layer.SECCOMP: _seccomp,
    Layer.LANDLOCK: _landlock,
    Layer.PIDNS: lambda: _in_pid_namespace(lambda: None),
    Layer.NETNS: _namespace(linux.CLONE_NEWNET),
    Layer.IPCNS: _namespace(linux.CLONE_NEWIPC),
    Layer.MOUNTNS: _private_root(proc=False),
    Layer.UTSNS: _namespace(linux.CLONE_NEWUTS),
    Layer.CGROUPNS: _namespace(linux.CLONE_NEWCGROUP),
    Layer.PROC: _private_root(proc=True),
    Layer.CGROUP: _cgroup,
}


def probe() -> JailLevel:
    """Find out which layers work here; takes some tens of milliseconds, changes nothing."""
    results = {layer: _in_child(attempt) for layer, attempt in _ATTEMPTS.items()}
    failures = {layer: why for layer, why in results.items() if why is not None}
    return JailLevel(
        layers=frozenset(results.keys() - failures.keys()),
        failures=failures,
        landlock_abi=landlock.abi(),
        shared_uid=identity.needs_user_namespace(),
    )
