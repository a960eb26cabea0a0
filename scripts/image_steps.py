"""Carries out a Dockerfile's steps for one target in a plain root folder: `make image`.

For machines without a container engine. Takes `python:` images for a Debian made by debootstrap,
with the distribution's own Python. Then starts the target's command and waits until its health
check passes. Needs root, debootstrap and the network.

    python -m scripts.image_steps web /var/tmp/image
"""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from scripts.stack import ROOT

_PACKAGES = "python3,python3-venv,python3-pip,ca-certificates"
_NETWORK = ("/etc/resolv.conf", "/etc/hosts", "/etc/ssl/certs/ca-certificates.crt")
"""This machine's way to package indexes, which may lead through a proxy of its own."""
_READY_S = 180


@dataclass
class Stage:
    """One `FROM` of the file."""

    base: str
    steps: list[tuple[str, str]] = field(default_factory=list)


@dataclass
class Machine:
    """A root folder in which steps are carried out."""

    root: Path
    workdir: str = "/"
    user: str = "0"
    environment: dict[str, str] = field(default_factory=dict)
    command: list[str] = field(default_factory=list)
    health: list[str] = field(default_factory=list)

    def run(self, command: list[str]) -> "subprocess.Popen[bytes]":
        """Start a command in the root folder."""
        path = "/opt/venv/bin:/usr/sbin:/usr/bin:/sbin:/bin"
        inherited = {k: v for k, v in os.environ.items() if k.startswith(("PIP_", "http", "no_"))}
        variables = inherited | {"PATH": path, "HOME": "/root"} | self.environment
        setup = f"cd {shlex.quote(self.workdir)} && exec {shlex.join(command)}"
        chroot = ["chroot", f"--userspec={self.user}:{self.user}", str(self.root)]
        return subprocess.Popen([*chroot, "sh", "-c", setup], env=variables)

    def do(self, instruction: str, rest: str) -> None:
        """Carry out one instruction; SystemExit if it fails."""
        match instruction:
            case "RUN":
                if self.run(["sh", "-ec", rest]).wait() != 0:
                    sys.exit(f"failed: RUN {rest}")
            case "COPY":
                self._copy(shlex.split(rest))
            case "ENV":
                self.environment |= dict(part.split("=", 1) for part in shlex.split(rest))
            case "ARG":
                name, _, default = rest.partition("=")
                self.environment.setdefault(name, os.environ.get(name, default))
            case "WORKDIR":
                self.workdir = rest
                (self.root / rest.lstrip("/")).mkdir(parents=True, exist_ok=True)
            case "USER":
                self.user = rest
            case "CMD":
                self.command = json.loads(rest)
            case "HEALTHCHECK":
                self.health = json.loads(rest.partition("CMD ")[2])
            case "EXPOSE":
                pass
            case other:
                sys.exit(f"this script does not know {other}")

    def _copy(self, names: list[str]) -> None:
        *sources, target = names
        folder = self.root / self.workdir.lstrip("/") / target
        for name in sources:
            if (ROOT / name).is_dir():
                ignored = shutil.ignore_patterns("__pycache__")
                shutil.copytree(ROOT / name, folder, dirs_exist_ok=True, ignore=ignored)
            else:
                shutil.copy(ROOT / name, folder / name)


def stages(text: str) -> dict[str, Stage]:
    """The file's stages by name, in order."""
    found: dict[str, Stage] = {}
    name = ""
    for instruction, rest in _instructions(text):
        if instruction == "FROM":
            base, _, name = (part.strip() for part in rest.partition(" AS "))
            found[name] = Stage(base)
        else:
            found[name].steps.append((instruction, rest))
    return found


def _instructions(text: str) -> Iterator[tuple[str, str]]:
    lines = [line for line in text.splitlines() if line.strip() and not line.startswith("#")]
    for line in re.sub(r"\\\n\s*", " ", "\n".join(lines)).splitlines():
        instruction, _, rest = line.partition(" ")
        yield instruction, rest.strip()


def steps_of(target: str, found: dict[str, Stage]) -> list[tuple[str, str]]:
    """Every step from the outer image on."""
    stage = found[target]
    before = steps_of(stage.base, found) if stage.base in found else []
    return before + stage.steps


def main(target: str, folder: Path) -> None:
    """Carry out the steps in a fresh copy of a Debian, which is made the first time; then start."""
    debian, root = folder / "debian", folder / target
    if not debian.exists():
        command = ["debootstrap", "--variant=minbase", f"--include={_PACKAGES}", "bookworm"]
        subprocess.run([*command, str(debian)], check=True)
    shutil.rmtree(root, ignore_errors=True)
    subprocess.run(["cp", "--archive", str(debian), str(root)], check=True)
    for name in _NETWORK:
        shutil.copy(name, root / name.lstrip("/"))
    machine = Machine(root)
    machine.do("RUN", "python3 -m venv /opt/venv")  # Debian's own Python takes no packages
    for instruction, rest in steps_of(target, stages((ROOT / "Dockerfile").read_text())):
        print(f"{instruction} {rest}", flush=True)
        machine.do(instruction, rest)
    process = machine.run(machine.command)
    try:
        _wait(machine, process)
    finally:
        process.terminate()
        process.wait()
    print(f"{target}: its health check passes")


def _wait(machine: Machine, process: "subprocess.Popen[bytes]") -> None:
    deadline = time.monotonic() + _READY_S
    while time.monotonic() < deadline:
        if process.poll() is not None:
            sys.exit(f"{machine.command} ended with {process.returncode}")
        if machine.run(machine.health).wait() == 0:
            return
        time.sleep(1)
    sys.exit("the health check did not pass in time")


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]).resolve())
