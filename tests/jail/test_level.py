"""Levels, probing, and refusing to start where the jail would not hold."""

import json
import os
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from tests.jail.conftest import ENTRY, LIMITS, TESTS, make_profile
from workers.jail import JailClient, JailLevel, Layer, Status, probe, start_server
from workers.jail.level import REQUIRED

AS_ROOT = pytest.mark.skipif(
    os.geteuid() != 0 or shutil.which("setpriv") is None, reason="takes rights from root"
)


def test_probe_changes_nothing_here() -> None:
    before = os.listdir("/proc/self/ns"), os.listdir("/proc/self/task"), os.geteuid()
    namespaces = [os.readlink(f"/proc/self/ns/{name}") for name in before[0]]
    assert probe() == probe()
    assert [os.readlink(f"/proc/self/ns/{name}") for name in before[0]] == namespaces
    assert (os.listdir("/proc/self/ns"), os.listdir("/proc/self/task"), os.geteuid()) == before


def test_complete_level() -> None:
    level = JailLevel(frozenset(Layer), landlock_abi=7)
    assert level.missing == frozenset()
    assert "landlock 7" in level.describe()
    assert "missing" not in level.describe()


def test_incomplete_level_names_the_reason_and_the_remedy() -> None:
    failures = {Layer.LANDLOCK: "this kernel has no Landlock", Layer.PROC: "masked"}
    level = JailLevel(frozenset(Layer) - failures.keys(), failures, shared_uid=True, unsafe=True)
    assert level.missing == {Layer.LANDLOCK}
    text = level.describe()
    assert "missing landlock (required): this kernel has no Landlock" in text
    assert "remedy: use Linux 5.13" in text
    assert "missing proc (optional): masked" in text
    assert "uid shared" in text
    assert "UNSAFE" in text


def test_every_required_layer_has_a_remedy() -> None:
    text = JailLevel(frozenset()).describe()
    assert text.count("remedy: ") == len(REQUIRED)


def test_json_round_trip() -> None:
    level = JailLevel(frozenset({Layer.UID}), {Layer.PROC: "masked"}, 3, True, True)
    assert JailLevel.from_json(level.to_json()) == level


START = (
    "import sys; from pathlib import Path; from workers.jail import *;"
    "profile = Profile.from_json(Path(sys.argv[1]).read_text()); unsafe = sys.argv[3] == 'unsafe';"
    f"server = start_server(Path(sys.argv[2]), 't', profile, (), '{ENTRY}', unsafe);"
)


def start_without_mounting(folder: Path, code: str, mode: str) -> subprocess.CompletedProcess[str]:
    """Run `code` after starting a server as a root that may not make namespaces or mounts."""
    profile = folder / "profile.json"
    profile.write_text(make_profile().to_json())
    weak = ["setpriv", "--bounding-set=-sys_admin"]
    command = [*weak, sys.executable, "-c", START + code, str(profile), str(folder / "run"), mode]
    source = TESTS.parents[1]
    return subprocess.run(command, cwd=source, capture_output=True, text=True, check=False)


@AS_ROOT
def test_server_refuses_where_layers_are_missing(tmp_path: Path) -> None:
    done = start_without_mounting(tmp_path, "", "strict")
    assert done.returncode == 1
    refusal = done.stderr.partition("JailRefused: ")[2]
    for layer in (Layer.NETNS, Layer.PIDNS, Layer.MOUNTNS, Layer.IPCNS):
        assert f"missing {layer} (required)" in refusal
    assert "CAP_SYS_ADMIN" in refusal
    assert not (tmp_path / "run" / "t.sock").exists()


CONTAINER = (
    "chown", "dac_override", "fsetid", "fowner", "mknod", "net_raw", "setgid", "setuid", "setfcap",
    "setpcap", "net_bind_service", "sys_chroot", "kill", "audit_write",
)  # fmt: skip
"""What container engines leave to root."""

RUN = (
    START
    + f"print(JailClient(server.socket).run(b'echo hi', Limits(**{LIMITS.__dict__!r})).result)"
)


@AS_ROOT
@pytest.mark.parametrize("more", [(), ("sys_admin",)])
def test_as_root_of_a_container(tmp_path: Path, more: tuple[str, ...]) -> None:
    """Refused with what a container has by default, whole with CAP_SYS_ADMIN."""
    profile = tmp_path / "profile.json"
    profile.write_text(make_profile().to_json())
    kept = ",".join(f"+{name}" for name in (*CONTAINER, *more))
    command = ["setpriv", f"--bounding-set=-all,{kept}", "--inh-caps=-all", sys.executable]
    done = subprocess.run(
        [*command, "-c", RUN, str(profile), str(tmp_path / "run"), "strict"],
        cwd=TESTS.parents[1], capture_output=True, text=True, check=False,
    )  # fmt: skip
    if more:
        assert done.stdout == "b'hi'\n", done.stderr
    else:
        assert "missing mountns (required)" in done.stderr
        assert "--cap-add SYS_ADMIN" in done.stderr


RUN_UNSAFE = (
    f"client = JailClient(server.socket); limits = Limits(**{replace(LIMITS, cpu_s=1).__dict__!r});"
    "import json; run = lambda request: client.run(request, limits);"
    "outcomes = [run(request.encode()) for request in ("
    "'echo hi', 'daemon', 'privileges', 'read [\"/etc/passwd\", \"/etc/shadow\"]',"
    "'network 80 /nowhere', 'fork_bomb', 'scratch_use', 'scratch_use')];"
    "print(json.dumps([[o.status, o.result.decode()] for o in outcomes]));"
    "print(json.dumps([server.level.unsafe, server.level.describe()]));"
    "server.stop()"
)


@AS_ROOT
def test_unsafe_server_applies_the_layers_that_work(tmp_path: Path) -> None:
    done = start_without_mounting(tmp_path, RUN_UNSAFE, "unsafe")
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    echo, daemon, privileges, read, network, bomb, *scratch = json.loads(lines[0])
    assert echo == ["ok", "hi"]
    assert daemon == ["ok", "left a daemon"]
    assert set(json.loads(privileges[1])["Uid"]) != {"0"}
    assert set(json.loads(read[1]).values()) == {"EACCES"}
    assert "allowed" not in json.loads(network[1]).values()
    assert bomb[0] == "cpu"
    assert [json.loads(result)[:2] for _, result in scratch] == [[[], "kept"]] * 2
    unsafe, description = json.loads(lines[1])
    assert unsafe
    assert "UNSAFE" in description
    assert not Path(json.loads(scratch[0][1])[2]).exists()


def test_unsafe_changes_nothing_where_all_layers_work(tmp_path: Path) -> None:
    server = start_server(tmp_path, "t", make_profile(), (), ENTRY, unsafe=True)
    outcome = JailClient(server.socket).run(b"root_listing", LIMITS)
    server.stop()
    assert outcome.status is Status.OK
    assert not server.level.unsafe
