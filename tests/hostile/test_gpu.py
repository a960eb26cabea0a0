"""Hostile kernels on a real GPU, through the whole stack: their verdict, then a job that is fine.

Where there is no GPU they are built all the same, so that none is a build error when it counts.
"""

import importlib.util
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from kernels.catalog import Catalog
from kernels.contract import Bundle, Verdict
from scripts.stack import ROOT, Stack
from tests.build.builds import answer
from tests.chaos.sources import RIGHT
from tests.hostile.rows import ALL, Row, rows
from tests.hostile.trial import Trial
from tests.stack.conftest import free_port

ROWS = rows("gpu")
TASKS = ROOT / "tests" / "chaos" / "tasks"
_GPU = Path("/dev/nvidiactl").exists() and importlib.util.find_spec("cuda") is not None
_WAIT_S = 90


@pytest.fixture(scope="module")
def trial(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Trial]:
    """An installation whose one task takes a fraction of a second to measure."""
    settings = {"KERNELJUDGE_TASKS_DIR": str(TASKS)}
    with Stack(tmp_path_factory.mktemp("gpu"), free_port(), settings) as stack:
        stack.wait_until_ready()
        yield Trial(stack, "no secret")


@pytest.mark.gpu
@pytest.mark.skipif(not _GPU, reason="needs a Hopper GPU")
@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.path.stem)
def test_a_kernel_gets_its_verdict_and_the_next_one_is_fine(trial: Trial, row: Row) -> None:
    began = time.monotonic()
    detail = trial.stack.submit("double", row.source, wait=_WAIT_S)
    seconds = time.monotonic() - began
    assert detail["verdict"] in row.verdicts, detail["reason"]
    assert detail["attempt"] == 1, "the judge took it for a fault of its own"
    honest = trial.stack.submit("double", f"{RIGHT}# after {row.path.stem}", wait=_WAIT_S)
    assert (honest["verdict"], honest["reason"], honest["attempt"]) == (Verdict.ACCEPTED, "", 1)
    health = trial.stack.ask("/api/v1/health")
    assert health is not None
    assert {worker["state"] for worker in health["workers"]} <= {"idle", "busy"}
    assert trial.strays() == []
    print(f"{row.path.stem}: {detail['verdict']} after {seconds:.1f} s: {detail['reason']}")  # noqa: T201


@pytest.mark.skipif(_GPU or not ALL, reason="where they are not measured: make hostile")
@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.path.stem)
def test_a_kernel_builds(row: Row) -> None:
    built = answer(row.source, Catalog(TASKS)["double"].task)
    if not isinstance(built, Bundle):
        assert Verdict(built.verdict) in row.verdicts, built
