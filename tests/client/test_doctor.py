"""`kerneljudge doctor` shows what both parts found, and fails if something is broken."""

import json
from pathlib import Path

import pytest

from tests.client.conftest import Run


def test_findings_of_both_parts(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KERNELJUDGE_DATA_DIR", str(tmp_path / "var"))
    result = run("doctor")
    assert result.exit_code == 1, "no Redis answers the workers"
    assert "Start the service first" in result.output
    found = json.loads(run("doctor", "--json").stdout)
    assert {finding["part"] for finding in found} == {"service", "workers"}
    assert all(f["remedy"] for f in found if f["state"] == "failure")
