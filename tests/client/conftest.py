"""A running service, someone who judges what is submitted to it, and the command line."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from kerneljudge.__main__ import main
from tests.client.judge import Judge
from tests.pages.site import Site, serve

Run = Callable[..., Result]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    with serve(tmp_path_factory.mktemp("site")) as running:
        yield running


@pytest.fixture
def judge(site: Site) -> Iterator[Judge]:
    """Answers each new submission with a report measured earlier."""
    with Judge(site) as judging:
        yield judging


@pytest.fixture
def run(site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Runs the command against the service, with a home of its own."""
    for name in ("KERNELJUDGE_TOKEN", "GITHUB_ACTIONS"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("KERNELJUDGE_URL", site.address)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("COLUMNS", "200")
    return lambda *arguments, **settings: CliRunner().invoke(
        main, [str(argument) for argument in arguments], **settings
    )


@pytest.fixture
def source(tmp_path: Path) -> Path:
    file = tmp_path / "softmax.py"
    file.write_text("import triton\n\n\ndef solve(x):\n    return x\n")
    return file
