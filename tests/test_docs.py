"""The documents name every setting, and what they point at is there."""

import re
from dataclasses import Field, fields
from pathlib import Path

import pytest

from app.pages.markdown import anchor
from app.settings import Settings
from scripts.stack import ROOT

MANUAL = (ROOT / "docs" / "operating.md").read_text(encoding="utf-8")
DOCUMENTS = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
VARIABLE = r"(?:KERNELJUDGE|WORKER)_[A-Z_]+"


def section(heading: str) -> str:
    """The text under a heading, up to the next one."""
    return re.split(r"^#+ ", MANUAL.split(f"# {heading}\n")[1], flags=re.MULTILINE)[0]


def row(text: str, variable: str) -> str:
    """A variable's row of a table; empty if it has none."""
    found = re.search(rf"^\| `{variable}` \|.*$", text, re.MULTILINE)
    return found[0] if found else ""


def rows(text: str) -> set[str]:
    """The variables that have a row."""
    return set(re.findall(rf"^\| `({VARIABLE})` \|", text, re.MULTILINE))


def test_every_setting_of_the_service_is_described() -> None:
    names = {f"KERNELJUDGE_{setting.name.upper()}" for setting in fields(Settings)}
    assert rows(section("The service")) == names


def test_every_setting_of_the_workers_is_described() -> None:
    source = (ROOT / "workers" / "settings.py").read_text(encoding="utf-8")
    assert rows(section("The workers of a host")) == set(re.findall(VARIABLE, source))


@pytest.mark.parametrize("setting", [s for s in fields(Settings) if type(s.default) is int])
def test_defaults_are_those_of_the_service(setting: "Field[int]") -> None:
    shown = row(section("The service"), f"KERNELJUDGE_{setting.name.upper()}")
    assert f"| `{setting.default}` |" in shown


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_links_lead_somewhere(path: Path) -> None:
    for link in re.findall(r"\]\(([^)\s]+)\)", path.read_text(encoding="utf-8")):
        target, _, fragment = link.partition("#")
        if "://" in target:
            continue
        file = (path.parent / target) if target else path
        assert file.exists(), link
        headings = re.findall(r"^#+ (.+)$", file.read_text() if fragment else "", re.MULTILINE)
        assert not fragment or fragment in {anchor(heading) for heading in headings}, link


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_make_targets_exist(path: Path) -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for target in re.findall(
        r"(?:^|`)make ([a-z]+)", path.read_text(encoding="utf-8"), re.MULTILINE
    ):
        assert f"\n{target}:" in makefile, target


def test_every_document_is_listed() -> None:
    readme = DOCUMENTS[0].read_text(encoding="utf-8")
    for path in (ROOT / "docs").glob("*.md"):
        assert f"](docs/{path.name})" in readme
