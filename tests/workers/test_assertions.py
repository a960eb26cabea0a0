"""Failed assertions print: only our own code runs there, yet the flood is the submission's."""

from pathlib import Path

import pytest

from kernels.catalog import Catalog
from kernels.contract import Submission
from workers.jail import JailClient, Profile, interpreter_paths, probe, start_server
from workers.measuring import measure
from workers.servers import _environment


def test_a_flood_is_the_kernels(tmp_path: Path, submission: Submission) -> None:
    if probe().missing:
        pytest.skip("no jail here")
    profile = Profile(name="measure-0", readable=interpreter_paths(), env=_environment())
    entry = "tests.workers.failing_gpu:run"
    server = start_server(tmp_path / "run", "measure-0", profile, (), entry)
    task = Catalog()["softmax"].task
    try:
        measured = measure(submission, task, Path("reference.py"), b"", JailClient(server.socket))
    finally:
        server.stop()
    assert measured.failure is not None
    assert measured.failure.verdict == "runtime_error"
    assert "tl.device_assert" in measured.failure.reason
    assert measured.log.startswith("Assertion"), "the author sees the beginning of it"
