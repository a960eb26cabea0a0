"""What a submission finds while it is built: nothing."""

import json
import os
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from scripts.stack import ROOT, Stack

SPY = """
import ctypes, glob, json, os, socket, sys

found = {}

def attempt(name, action):
    try:
        found[name] = str(action())[:300]
    except BaseException as error:
        found[name] = f"refused {type(error).__name__}"

def connect(port):
    with socket.create_connection(("127.0.0.1", port), timeout=1) as s:
        s.sendall(b"hello")

def shell():
    child = os.fork()
    if child == 0:
        try:
            os.execv("/bin/sh", ["sh", "-c", "true"])
        finally:
            os._exit(77)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])

attempt("tcp", lambda: connect(PORT))
attempt("unix", lambda: socket.socket(socket.AF_UNIX).connect(REDIS))
attempt("gpu", lambda: glob.glob("/dev/nvidia*"))
attempt("libcuda", lambda: ctypes.CDLL("libcuda.so.1"))
attempt("environment", lambda: sorted(os.environ.items()))
attempt("parents", lambda: open(f"/proc/{os.getppid()}/environ").read())
attempt("processes", lambda: [p for p in os.listdir("/proc") if p.isdigit()])
attempt("passwords", lambda: open("/etc/shadow").read())
attempt("reference", lambda: open(ROOT + "/kernels/tasks/softmax/reference.py").read())
attempt("database", lambda: open(DATA + "/kerneljudge.db", "rb").read(16))
attempt("shell", shell)
attempt("kill", lambda: os.kill(PARENT, 9))
attempt("user", lambda: os.getuid())
writable = []
for folder in ("/", "/tmp", "/var/tmp", "/dev/shm", "/run", "/usr", "/home", ROOT, DATA,
               os.path.dirname(os.__file__), os.getcwd()):
    try:
        with open(os.path.join(folder, "written"), "w") as f:
            f.write("x")
        writable.append(folder)
    except OSError:
        pass
found["writable"] = writable
found["scratch"] = os.getcwd()
print("FOUND " + json.dumps(found))

def solve(x):
    raise RuntimeError("seen enough")
"""


@contextmanager
def listener() -> Iterator[tuple[int, list[bytes]]]:
    """A server on the loopback address, and what it received."""
    heard: list[bytes] = []
    server = socket.create_server(("127.0.0.1", 0))

    def serve() -> None:
        while True:
            try:
                connection, _ = server.accept()
            except OSError:
                return
            with connection:
                heard.append(connection.recv(100))

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    yield server.getsockname()[1], heard
    server.shutdown(socket.SHUT_RDWR)
    server.close()
    thread.join()


def spy(stack: Stack, port: int) -> dict[str, Any]:
    constants = {
        "PORT": port,
        "REDIS": f"{stack.data_dir}/redis.sock",
        "ROOT": str(ROOT),
        "DATA": str(stack.data_dir),
        "PARENT": os.getpid(),
    }
    head = "".join(f"{name} = {value!r}\n" for name, value in constants.items())
    detail = stack.submit("softmax", head + SPY, wait=600)
    assert detail["verdict"] == "build_error", detail["reason"]
    log: str = detail["report"]["log"]
    line = next(line for line in log.splitlines() if line.startswith("FOUND "))
    assert "canary-4711" not in json.dumps(detail)
    found: dict[str, Any] = json.loads(line.removeprefix("FOUND "))
    return found


def test_the_build_finds_no_gpu_no_network_no_secret_and_one_writable_folder(stack: Stack) -> None:
    with listener() as (port, heard):
        found = spy(stack, port)
    assert heard == []
    assert found["gpu"] == "[]"
    for name in (
        "tcp", "unix", "libcuda", "parents", "passwords", "reference", "database", "kill",
    ):  # fmt: skip
        assert found[name].startswith("refused"), (name, found[name])
    assert found["shell"] == "77"
    assert "REDIS" not in found["environment"]
    assert found["writable"] == [found["scratch"]]
    assert found["user"] != str(os.getuid()) or os.getuid() != 0


def test_the_measuring_process_never_has_the_source(stack: Stack) -> None:
    """The server beside the clock cannot import what runs submissions, nor Triton."""
    health = stack.ask("/api/v1/health")
    assert health is not None
    processes = {}
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/cmdline", "rb") as file:
                words = file.read().decode(errors="replace").split("\0")
            with open(f"/proc/{pid}/maps") as file:
                maps = file.read()
        except OSError:
            continue
        if str(stack.data_dir) in " ".join(words) and "workers.jail.server" in words:
            processes[words[words.index("--entry") + 1]] = maps
    assert "libtriton" in processes["workers.build.main:run"]
    assert "libtriton" not in processes["workers.measure.main:run"]
