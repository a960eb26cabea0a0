"""A GPU that falls ill while it measures is taken out of service, and back once it is mended."""

import random
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from kernels.contract import Verdict
from tests.chaos import sources, stand_in
from tests.chaos.clients import ask
from tests.chaos.ledger import Ledger
from tests.chaos.site import Site, installation_under_load
from tests.hostile.rows import ALL

_SOON_S = 120


@pytest.fixture
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    folder: Path = tmp_path_factory.mktemp("q")
    (folder / "data").mkdir(mode=0o700)
    with installation_under_load(
        folder, Ledger(), random.Random(0), disk=False, clock=False
    ) as site:
        yield site


def submit(site: Site, source: str) -> str:
    body = {"task": "double", "source": source, "device": "H200"}
    answer = ask(f"{site.stack.address}/api/v1/submissions", body)
    assert answer is not None
    return str(answer["id"])


def finished(site: Site, submission: str) -> dict[str, Any]:
    deadline = time.monotonic() + _SOON_S
    while time.monotonic() < deadline:
        detail = ask(f"{site.stack.address}/api/v1/submissions/{submission}?wait=5")
        if detail is not None and detail["stage"] == "finished":
            return detail
    raise AssertionError(f"{submission} did not end")


def health_when(site: Site, state: str) -> dict[str, Any]:
    """The health once every measurer is in a state."""
    deadline = time.monotonic() + _SOON_S
    while time.monotonic() < deadline:
        health = ask(f"{site.stack.address}/api/v1/health")
        workers = [w for w in (health or {"workers": ()})["workers"] if w["role"] == "measure"]
        if health and workers and all(worker["state"] == state for worker in workers):
            return health
        time.sleep(0.2)
    raise AssertionError(f"the measurers did not become {state}")


@pytest.mark.skipif(not ALL, reason="starts the workers three times: make hostile")
def test_a_sick_gpu_serves_no_more_until_the_workers_are_started_again(site: Site) -> None:
    crashed = finished(site, submit(site, sources.CRASHING))
    assert crashed["verdict"] == Verdict.RUNTIME_ERROR
    health_when(site, "idle")  # it was asked, and is well

    sick = site.stack.data_dir / "gpu" / stand_in.SICK
    sick.touch()
    name = submit(site, f"{sources.CRASHING}# again")
    health = health_when(site, "quarantined")
    assert {w["detail"] for w in health["workers"] if w["role"] == "measure"} == {stand_in.SICK}
    assert any("out of service: the stand-in is sick" in banner for banner in health["banners"])
    log = site.stack.parts[1].log.read_text()
    assert f"measure-99 is in quarantine: {stand_in.SICK}" in log

    other = submit(site, sources.RIGHT)
    detail = ask(f"{site.stack.address}/api/v1/submissions/{other}?wait=8")
    assert detail is not None
    assert detail["stage"] != "finished"

    site.stack.parts[1].stop()  # started again at once, and asks again
    health_when(site, "quarantined")
    sick.unlink()
    site.stack.parts[1].stop()
    health_when(site, "idle")
    assert finished(site, other)["verdict"] == Verdict.ACCEPTED
    crashed = finished(site, name)
    assert (crashed["verdict"], crashed["attempt"]) == (Verdict.RUNTIME_ERROR, 2)
