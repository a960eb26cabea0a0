"""Dockerfile and docker-compose.yml: what they name is there, and nobody gets too much."""

import re
import shutil
import subprocess
import sys
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest
import yaml

from app.settings import Settings as AppSettings
from scripts.image_steps import stages, steps_of
from scripts.stack import ROOT
from workers.settings import Settings as WorkerSettings

COMPOSE: dict[str, Any] = yaml.safe_load((ROOT / "docker-compose.yml").read_text())
STAGES = stages((ROOT / "Dockerfile").read_text())
SERVICES = sorted(COMPOSE["services"])
OURS = {name: s["build"]["target"] for name, s in COMPOSE["services"].items() if "build" in s}


def test_the_dockerfile_is_sound() -> None:
    """By hadolint, one of the development packages: beside the Python that runs the tests."""
    linter = Path(sys.executable).parent / "hadolint"
    done = subprocess.run([linter, "Dockerfile"], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("target", ["web", "worker"])
def test_what_is_copied_is_there_and_the_program_too(target: str) -> None:
    steps = steps_of(target, STAGES)
    copied = [name for kind, rest in steps if kind == "COPY" for name in rest.split()[:-1]]
    assert all((ROOT / name).exists() for name in copied)
    module = next(rest for kind, rest in steps if kind == "CMD").split('"')[5]
    assert module in copied
    assert any(kind == "HEALTHCHECK" for kind, _ in steps)


@pytest.mark.parametrize("name", SERVICES)
def test_every_service_says_whether_it_is_well(name: str) -> None:
    service = COMPOSE["services"][name]
    steps = steps_of(OURS[name], STAGES) if name in OURS else []
    assert "healthcheck" in service or any(kind == "HEALTHCHECK" for kind, _ in steps)
    for other, condition in service.get("depends_on", {}).items():
        assert other in SERVICES
        assert condition == {"condition": "service_healthy"}


@pytest.mark.parametrize("name", sorted(OURS))
def test_settings_are_those_that_the_program_reads(name: str) -> None:
    known = AppSettings if OURS[name] == "web" else WorkerSettings
    names = {f"KERNELJUDGE_{f.name.upper()}" for f in fields(known)}
    names |= {"KERNELJUDGE_REDIS_URL", "KERNELJUDGE_DATABASE_URL"} if known is AppSettings else {
        "KERNELJUDGE_REDIS_URL"
    }  # fmt: skip
    given = COMPOSE["services"][name]["environment"]
    ours = {variable.removesuffix("_FILE") for variable in given if "KERNELJUDGE" in variable}
    assert ours <= names


def test_workers_get_no_database_and_nobody_is_reachable_from_outside() -> None:
    for name, target in OURS.items():
        if target == "worker":
            assert COMPOSE["services"][name]["secrets"] == ["redis_worker_url"]
    ports = [port for s in COMPOSE["services"].values() for port in s.get("ports", [])]
    assert ports == ["127.0.0.1:8000:8000"]


def test_every_secret_is_made_once_and_kept(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "deploy", tmp_path / "deploy")
    contents = []
    for _ in range(2):
        subprocess.run(["sh", str(tmp_path / "deploy/make-secrets.sh")], check=True)
        made = {p.name: p.read_text() for p in (tmp_path / "var/secrets").iterdir()}
        contents.append(made)
    assert contents[0] == contents[1]
    assert (tmp_path / "var/secrets").stat().st_mode & 0o077 == 0
    files = {Path(secret["file"]).name for secret in COMPOSE["secrets"].values()}
    assert files <= set(made)
    used = {s for service in COMPOSE["services"].values() for s in service.get("secrets", [])}
    assert used == set(COMPOSE["secrets"])
    assert "PASSWORD" not in made["redis-users.acl"]
    passwords = re.findall(r"[0-9a-f]{48}", " ".join(made.values()))
    assert len(set(passwords)) == 3
