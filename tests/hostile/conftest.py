"""One installation with a secret in its environment, for all tests of this folder."""

import secrets
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from scripts.stack import ROOT, Stack
from tests.hostile.trial import SECRET, Trial
from tests.stack.conftest import free_port

_AT_ONCE = 6
_SOFTMAX = ROOT / "kernels" / "tasks" / "softmax"


@pytest.fixture(scope="session")
def tasks(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A catalogue of the softmax alone, with fewer cases and less time for a build."""
    folder = tmp_path_factory.mktemp("hostile") / "tasks"
    shutil.copytree(_SOFTMAX, folder / "softmax")
    shutil.copy(Path(__file__).with_name("softmax.toml"), folder / "softmax" / "task.toml")
    return folder


@pytest.fixture(scope="session")
def trial(tasks: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Trial]:
    """Service and workers, and what was found out with them so far."""
    secret = f"canary-{secrets.token_hex(8)}"
    settings = {
        SECRET: secret,
        "KERNELJUDGE_GPU": "off",
        "KERNELJUDGE_BUILD_WORKERS": str(_AT_ONCE),
        "KERNELJUDGE_TASKS_DIR": str(tasks),
    }
    with Stack(tmp_path_factory.mktemp("hostile"), free_port(), settings) as stack:
        stack.wait_until_ready()
        yield Trial(stack, secret)
