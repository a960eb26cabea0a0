"""The jobs for continuous integration that docs/examples shows: their script parts run."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.client.judge import Judge
from tests.pages.site import Site

EXAMPLES = Path(__file__).parents[2] / "docs" / "examples"


def scripts(file: str) -> list[str]:
    """The shell commands of the job, but for the installation."""
    job: Any = yaml.safe_load((EXAMPLES / file).read_text())
    if file.startswith("github"):
        steps = job["jobs"]["judge"]["steps"]
        lines = [step["run"] for step in steps if "run" in step]
    else:
        lines = [*job["judge"]["before_script"], *job["judge"]["script"]]
    assert "pip install kerneljudge" in lines[0]
    return lines[1:]


@pytest.mark.parametrize("file", ["github-actions.yml", "gitlab-ci.yml"])
def test_the_script_judges_and_stops_a_regression(
    site: Site, judge: Judge, source: Path, file: str
) -> None:
    command = Path(sys.executable).parent
    environment = os.environ | {
        "KERNELJUDGE_URL": site.address,
        "GITHUB_REF_NAME": file,
        "CI_COMMIT_REF_NAME": file,
        "PATH": f"{command}:{os.environ['PATH']}",
    }

    def run() -> int:
        for line in scripts(file):
            done = subprocess.run(["sh", "-ec", line], cwd=source.parent, env=environment)
            if done.returncode:
                return done.returncode
        return 0

    assert run() == 0
    assert (source.parent / "report.xml").exists()
    judge.slower = 1.1
    assert run() == 1
