"""Entry functions that behave."""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path


def echo(argument: bytes) -> bytes:
    """Return the argument."""
    return argument


def talk(argument: bytes) -> bytes:
    """Print on both streams, also from a child, and return nothing."""
    print("to stdout")  # noqa: T201
    print("to stderr", file=sys.stderr)  # noqa: T201
    os.write(1, b"\xff\x00 raw\n")
    return b""


def fail(argument: bytes) -> bytes:
    """Raise."""
    raise ValueError("the reason \ud800")


def size(argument: bytes) -> bytes:
    """Return as many bytes as asked for."""
    return b"x" * int(argument)


def wrong_type(argument: bytes) -> bytes:
    """Return a string."""
    return "text"  # type: ignore[return-value]


def import_late(argument: bytes) -> bytes:
    """Import a module that the server has not loaded."""
    import wave

    return wave.__name__.encode()


def import_neighbour(argument: bytes) -> bytes:
    """Import a module of a readable folder of the project."""
    from tests.jail import neighbour

    return neighbour.GREETING


def run_program(argument: bytes) -> bytes:
    """Run a program and return what it prints."""
    return subprocess.run([argument.decode()], capture_output=True, check=True).stdout


def scratch_use(argument: bytes) -> bytes:
    """Write, rename and read back in the scratch folder, through its usual names."""
    found = os.listdir(".")
    with tempfile.TemporaryDirectory() as folder:
        first = Path(folder) / "first"
        first.write_bytes(b"kept")
        os.makedirs("deep/er")
        second = first.rename("deep/er/second")
        os.symlink("deep", "link")
        content = second.read_bytes()
    Path(os.environ["HOME"], "left-behind").write_text("left")
    return json.dumps([found, content.decode(), os.getcwd()]).encode()
