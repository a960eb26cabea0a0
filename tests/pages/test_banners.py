import time
from datetime import UTC, datetime
from typing import Literal

import pytest

from kernels.contract import EXPIRY_SECONDS, DeviceName, WorkerInfo, worker_key
from tests.pages.site import Site


def _worker(role: Literal["build", "measure"], *, jail_complete: bool = True) -> WorkerInfo:
    now = datetime.now(UTC)
    return WorkerInfo(
        name=f"{role}-1",
        host="host-1",
        role=role,
        device=DeviceName.H100 if role == "measure" else None,
        gpu="NVIDIA H100 (0)" if role == "measure" else None,
        versions={"python": "3.12.3"},
        jail="complete" if jail_complete else "unsafe: no landlock",
        jail_complete=jail_complete,
        state="idle",
        started_at=now,
        seen_at=now,
    )


def _page_with(site: Site, path: str, workers: list[WorkerInfo]) -> str:
    """The page once the service has seen exactly these workers; it looks once a second."""
    for key in site.queue.scan_iter(worker_key("*")):
        site.queue.delete(key)
    for worker in workers:
        site.queue.set(worker_key(worker.name), worker.model_dump_json(), ex=EXPIRY_SECONDS)
    wanted = {(worker.name, worker.jail) for worker in workers}
    for _ in range(100):
        seen = site.http.get("/api/v1/health").json()["workers"]
        if {(worker["name"], worker["jail"]) for worker in seen} == wanted:
            return site.html(path)
        time.sleep(0.1)
    pytest.fail("the service did not notice its workers")


def test_without_a_worker_a_warning_stands_on_the_page(site: Site) -> None:
    page = _page_with(site, "/submissions", [])
    assert 'class="banner warning"' in page
    assert "No worker is running" in page


def test_without_a_gpu_a_note_stands_on_the_page(site: Site) -> None:
    page = _page_with(site, "/", [_worker("build")])
    assert 'class="banner note"' in page
    assert "GPU" in page
    assert "H200 (checked on the CPU)" in site.html("/tasks/softmax")


def test_an_unsafe_jail_is_announced_as_danger(site: Site) -> None:
    page = _page_with(site, "/", [_worker("build", jail_complete=False)])
    assert 'class="banner danger"' in page


def test_with_all_there_is_no_banner_and_the_gpu_is_offered_first(site: Site) -> None:
    page = _page_with(site, "/tasks/softmax", [_worker("build"), _worker("measure")])
    assert "banner" not in page
    assert '<option value="H100" selected>H100</option>' in page


def test_health_names_a_worker_and_its_jail(site: Site) -> None:
    page = _page_with(site, "/health", [_worker("build", jail_complete=False)])
    assert '<span class="over">unsafe: no landlock</span>' in page
