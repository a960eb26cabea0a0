"""What host code may read: from the process that makes it to a plan that is held against it."""

from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from kernels.catalog import TaskFolder
from kernels.contract import DeviceName, PlanRefused, Submission
from tests.tasks.test_manual import SOLUTION, written
from workers.building import build, checked_bundle
from workers.jail import JailClient, probe
from workers.ours import host_values
from workers.plan_cache import key
from workers.servers import start_build, start_measure
from workers.settings import Settings


@dataclass(frozen=True)
class Host:
    """A task that shows values, and the servers of a host without a GPU."""

    folder: TaskFolder
    measure: JailClient
    build: JailClient


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Host]:
    level = probe()
    if level.missing:
        pytest.skip(f"no jail here: {level.describe()}")
    data_dir = tmp_path_factory.mktemp("host")
    settings = Settings(
        data_dir=data_dir,
        redis_url="",
        build_workers=1,
        unsafe=False,
        gpu=False,
        host="test",
        tasks_dir=data_dir / "tasks",
    )
    settings.runtime_dir.mkdir()
    settings.tasks_dir.mkdir()
    folder = written(settings.tasks_dir)
    servers = start_measure(settings, None), start_build(settings)
    yield Host(folder, *(JailClient(server.socket) for server in servers))
    for server in servers:
        server.stop()


def test_a_plan_is_held_against_the_values_it_was_built_on(host: Host) -> None:
    task = host.folder.task
    submission = Submission(
        id="s1", attempt=1, task=task.name, task_version=1, device=DeviceName.H200,
        measured=False, entry=task.entry, source=SOLUTION,
    )  # fmt: skip
    values = host_values(task, host.folder.reference, host.measure)
    assert [len(content) for content in values] == [3 * 8, 8 * 8]
    built = build(submission, task, host.build, values)
    assert built.bundle is not None, built
    packed = built.bundle.pack()
    assert checked_bundle(packed, task, submission, values) == built.bundle
    others = (values[0], bytes(8 * 8))
    with pytest.raises(PlanRefused, match="inputs are not the task's"):
        checked_bundle(packed, task, submission, others)
    assert key(submission, task, values) != key(submission, task, others)
