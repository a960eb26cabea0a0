"""The catalogue: reads the folders under tasks/ as files and never imports them."""

import tomllib
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from kernels.contract import Task, Track
from kernels.fixtures import CatalogError, Fixture, check_verdicts, fixtures

TASKS = Path(__file__).parent / "tasks"
"""The tasks that come with the project."""

_REQUIRED = ("statement.md", "reference.py", "starter.py")


__all__ = ["TASKS", "Catalog", "CatalogError", "Fixture", "TaskFolder", "UnknownTask"]


class UnknownTask(KeyError):
    """No task has that name."""

    def __str__(self) -> str:
        return str(self.args[0])


@dataclass(frozen=True)
class TaskFolder:
    """One task and where its files lie."""

    task: Task
    path: Path

    @property
    def reference(self) -> Path:
        """The module with `reference`, `baseline` and perhaps `slack`."""
        return self.path / "reference.py"

    @property
    def statement(self) -> str:
        """What participants read, in Markdown."""
        return (self.path / "statement.md").read_text(encoding="utf-8")

    @property
    def starter(self) -> str:
        """Source that an editor starts with: it builds and does not solve the task."""
        return (self.path / "starter.py").read_text(encoding="utf-8")

    @property
    def solutions(self) -> tuple[Path, ...]:
        """Submissions that must be accepted, by name."""
        return tuple(sorted((self.path / "solutions").glob("*.py")))

    @property
    def fixtures(self) -> tuple[Fixture, ...]:
        """Submissions that must be refused, by verdict and name; CatalogError."""
        return tuple(fixtures(self.path))


class Catalog(Mapping[str, TaskFolder]):
    """All tasks of a folder by name; read and checked once, when it is made."""

    def __init__(self, root: Path = TASKS) -> None:
        """Read root/*/task.toml; CatalogError for the first task that is not well formed."""
        files = sorted(root.glob("*/task.toml"))
        if not files:
            raise CatalogError(f"{root}: no task; a task is a folder with a task.toml in it")
        self._folders = {file.parent.name: _read(file) for file in files}
        self.tracks = tuple(
            _track(file, self) for file in sorted((root.parent / "tracks").glob("*.toml"))
        )
        """Courses over these tasks, from the folder tracks beside them."""

    def __getitem__(self, name: str) -> TaskFolder:
        try:
            return self._folders[name]
        except KeyError:
            known = ", ".join(self._folders)
            raise UnknownTask(f"no task is called {name!r}; there are {known}") from None

    def __iter__(self) -> Iterator[str]:
        return iter(self._folders)

    def __len__(self) -> int:
        return len(self._folders)


def _read(file: Path) -> TaskFolder:
    for name in _REQUIRED:
        if not (file.parent / name).is_file():
            raise CatalogError(f"{file.parent / name}: missing; every task has one")
    check_verdicts(file.parent)
    return TaskFolder(_task(file), file.parent)


def _track(file: Path, known: Collection[str]) -> Track:
    try:
        track = Track(name=file.stem, **_toml(file))
    except ValidationError as error:
        raise CatalogError(f"{file}: {_problem(error, {})}") from None
    for name in track.tasks:
        if name not in known:
            raise CatalogError(f"{file}: no task is called {name!r}")
        if track.tasks.count(name) > 1:
            raise CatalogError(f"{file}: the task {name!r} comes twice")
    return track


def _toml(file: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(file.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise CatalogError(f"{file}: not valid TOML: {error}") from None


def _task(file: Path) -> Task:
    data = _toml(file)
    if "name" in data:
        raise CatalogError(f"{file}: name: the folder names the task; remove the field")
    try:
        return Task(name=file.parent.name, **data)
    except ValidationError as error:
        raise CatalogError(f"{file}: {_problem(error, data)}") from None


def _problem(error: ValidationError, data: Mapping[str, Any]) -> str:
    first = error.errors(include_url=False)[0]
    where = [str(part) for part in first["loc"]]
    if len(where) > 1 and where[1].isdecimal() and where[0] in data:
        entry = data[where[0]][int(where[1])]
        if isinstance(entry, dict) and "name" in entry:
            where[1] = repr(entry["name"])
    return f"{'.'.join(where) or 'task'}: {first['msg']}"
