"""The process with the clock has no submitted source, and nothing that could run it."""

import subprocess
import sys

from kernels.contract.wire import (
    CompareRequest,
    HostValuesRequest,
    InputsRequest,
    MeasureRequest,
)
from workers.settings import ROOT


def test_no_request_carries_source() -> None:
    for request in (HostValuesRequest, InputsRequest, CompareRequest, MeasureRequest):
        assert "source" not in request.model_fields


def test_nothing_that_runs_submissions_is_loaded() -> None:
    code = "import sys, workers.measure.prewarm; print(*sorted(sys.modules), sep='\\n')"
    run = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )
    loaded = run.stdout.split()
    assert "workers.measure.main" in loaded
    for name in ("triton", "workers.build", "workers.interpret", "workers.facade", "rq", "redis"):
        assert not [module for module in loaded if module == name or module.startswith(name + ".")]
