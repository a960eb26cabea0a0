"""The build inside its jail: it works there, and finds nothing there that it should not."""

import os
from collections.abc import Iterator
from unittest import mock

import pytest

from kernels.contract import Bundle, DeviceName, Task, limits
from kernels.contract.wire import BuildAnswer, BuildRequest, Failure
from tests.build.builds import COPY, COPYING
from tests.build.test_manual import BEGINNING, EXAMPLES, asked
from workers.jail import JailClient, Limits, ServerProcess, Status, probe
from workers.servers import start_build
from workers.settings import ROOT, Settings

SECRET = "KERNELJUDGE_REDIS_URL"
LIMITS = Limits(
    wall_s=60,
    cpu_s=240,
    memory_bytes=8 * limits.GIB,
    processes=128,
    scratch_bytes=limits.GIB,
    result_bytes=limits.BUNDLE_BYTES,
)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    """A build server like a worker's."""
    level = probe()
    if level.missing:
        pytest.skip(f"no jail here: {level.describe()}")
    folder = tmp_path_factory.mktemp("jailed")
    settings = Settings(
        data_dir=folder, redis_url="", build_workers=1, unsafe=False, gpu=False, host="test"
    )
    settings.runtime_dir.mkdir()
    with mock.patch.dict(os.environ, {SECRET: "redis://secret"}):
        started = start_build(settings)
    yield started
    started.stop()


def answer(
    server: ServerProcess, source: str, task: Task = COPYING
) -> tuple[Bundle | Failure, str]:
    """What the build answers from the jail, and what the submission printed."""
    request = BuildRequest(
        source=source, entry=task.entry, task=task, device=DeviceName.H200, seconds=50
    )
    outcome = JailClient(server.socket).run(request.pack(), LIMITS)
    assert outcome.status is Status.OK, outcome
    found, blobs = BuildAnswer.unpack(outcome.result)
    return found.failure or Bundle.unpack(blobs[0]), outcome.output


def test_a_submission_builds_and_what_it_prints_comes_back(server: ServerProcess) -> None:
    source = COPY + "print('at import')\ndef solve(x):\n    print(x.shape)\n    return run(x, x)"
    bundle, output = answer(server, source)
    assert isinstance(bundle, Bundle)
    assert output.splitlines() == ["at import", "torch.Size([100])"]


@pytest.mark.parametrize("what", ["do_bench", "triton_op", "gluon", "linspace", "autotune"])
def test_what_needs_more_of_the_system_builds_too(server: ServerProcess, what: str) -> None:
    example = next(example for example in EXAMPLES if what in example)
    bundle, output = answer(server, BEGINNING + example, asked(example))
    assert isinstance(bundle, Bundle), (bundle, output)


@pytest.mark.parametrize(
    "code",
    [
        "__import__('socket').create_connection(('127.0.0.1', 6379))",
        "__import__('subprocess').run(['/bin/sh', '-c', 'true'])",
        "open('/etc/shadow')",
        "open('/etc/new', 'w')",
        "open('/dev/nvidia0')",
        f"open({str(ROOT / 'kernels' / 'tasks' / 'softmax' / 'reference.py')!r})",
        f"open({str(ROOT / 'workers' / 'build' / 'main.py')!r}, 'a')",
    ],
)
def test_nothing_outside_can_be_reached(server: ServerProcess, code: str) -> None:
    source = f"try:\n    {code}\nexcept OSError: raise ValueError('kept out')"
    failure, _ = answer(server, source)
    assert isinstance(failure, Failure)
    assert failure.reason == "ValueError: kept out"


def test_no_secret_is_in_the_environment(server: ServerProcess) -> None:
    failure, _ = answer(server, "import os\nraise ValueError(sorted(os.environ))")
    assert isinstance(failure, Failure)
    names = failure.diagnostics[0].message
    assert "'TMPDIR'" in names
    assert SECRET not in names
