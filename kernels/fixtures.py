"""Submissions that must not be accepted: whole files, or one of the task's own with a change in it.

Most of what goes wrong is a line or two, so a fixture says which: it names the solution that it is
made of and what stands in place of what. It follows when the solution changes, and says so when it
no longer can.
"""

import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from pydantic import Field, StringConstraints, ValidationError

from kernels.contract import Verdict
from kernels.contract._model import LongText, Model, ShortText

_NEEDS_GPU = re.compile(r"^#\s*needs:\s*gpu\s*$", re.MULTILINE)


class CatalogError(ValueError):
    """A task folder is not well formed; the message names the file and what to change."""


class Change(Model):
    """One piece of a source that another takes the place of."""

    old: Annotated[str, StringConstraints(min_length=1, max_length=10_000)]
    """Stands in the source exactly once."""
    new: LongText


class Variation(Model):
    """What a fixture's TOML file says."""

    what: ShortText
    """What it does wrong, as a sentence."""
    of: Annotated[str, StringConstraints(pattern=r"^(solutions/[a-z0-9_]+|starter)\.py$")]
    """The file it is made of."""
    needs_gpu: bool = False
    """Whether only a GPU can show what is wrong with it."""
    changes: tuple[Change, ...] = Field(min_length=1, max_length=16)


@dataclass(frozen=True)
class Fixture:
    """A submission that must get a certain verdict."""

    verdict: Verdict
    path: Path
    source: str
    """Its text, as a user would send it; the first line says what it does."""
    needs_gpu: bool
    """Whether only a GPU can show what is wrong with it."""


def check_verdicts(folder: Path) -> None:
    """CatalogError unless the folders in a task's verdicts/ are verdicts and fixtures lie there."""
    for path in (*folder.glob("verdicts/*.*"), *folder.glob("solutions/*.toml")):
        if path.suffix in (".py", ".toml"):
            raise CatalogError(f"{path}: would not be judged; move it into verdicts/<verdict>/")
    for path in folder.glob("verdicts/*/"):
        if path.name not in set(Verdict):
            known = ", ".join(Verdict)
            raise CatalogError(f"{path}: no such verdict; there are {known}")


def fixtures(folder: Path) -> Iterator[Fixture]:
    """Of a task's folder, by verdict and name; CatalogError for one that cannot be made."""
    return (fixture(folder, path) for path in fixture_files(folder))


def fixture_files(folder: Path) -> list[Path]:
    """What a task's fixtures are made from, by verdict and name."""
    return [p for p in sorted(folder.glob("verdicts/*/*")) if p.suffix in (".py", ".toml")]


def fixture(folder: Path, path: Path) -> Fixture:
    """What one of a task's fixture_files makes; CatalogError if it makes nothing."""
    verdict = Verdict(path.parent.name)
    if path.suffix == ".py":
        text = path.read_text(encoding="utf-8")
        return Fixture(verdict, path, text, _NEEDS_GPU.search(text) is not None)
    variation = _variation(path)
    return Fixture(verdict, path, _varied(folder, path, variation), variation.needs_gpu)


def _variation(path: Path) -> Variation:
    try:
        return Variation.model_validate(tomllib.loads(path.read_text(encoding="utf-8")))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise CatalogError(f"{path}: not valid TOML: {error}") from None
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = ".".join(str(part) for part in first["loc"])
        raise CatalogError(f"{path}: {where}: {first['msg']}") from None


def _varied(folder: Path, path: Path, variation: Variation) -> str:
    base = folder / variation.of
    if not base.is_file():
        raise CatalogError(f"{path}: of: there is no {variation.of}")
    text = base.read_text(encoding="utf-8")
    for number, change in enumerate(variation.changes, 1):
        times = text.count(change.old)
        if times != 1:
            raise CatalogError(
                f"{path}: change {number}: its old text stands {times} times in {variation.of}; "
                "make it stand there once"
            )
        text = text.replace(change.old, change.new)
    return f"# {variation.what}\n{text}"
