"""House entries: reads records/<device>/<task>.json as files, and checks them like any report."""

import hashlib
from collections.abc import Iterator, Mapping
from pathlib import Path

from pydantic import ValidationError

from kernels.catalog import CatalogError, TaskFolder
from kernels.contract import HARNESS_VERSION, DeviceName, Record

RECORDS = Path(__file__).parent / "records"
"""The records that come with the project."""


class RecordError(CatalogError):
    """A record cannot be used; the message names the file and says why."""


class Records(Mapping[tuple[str, DeviceName], Record]):
    """Records by task and device; those that are not current are left out."""

    def __init__(self, catalog: Mapping[str, TaskFolder], root: Path = RECORDS) -> None:
        """Read all records; RecordError for the first that is malformed."""
        self._records = {
            (path.stem, record.report.device): record
            for path, record in _read_all(root)
            if path.stem in catalog and is_current(record, catalog[path.stem])
        }

    def __getitem__(self, key: tuple[str, DeviceName]) -> Record:
        return self._records[key]

    def __iter__(self) -> Iterator[tuple[str, DeviceName]]:
        return iter(self._records)

    def __len__(self) -> int:
        return len(self._records)


def is_current(record: Record, folder: TaskFolder) -> bool:
    """Whether it is of the present task, clock and source of the solution."""
    path = folder.path / "solutions" / f"{record.solution}.py"
    versions = (record.report.task_version, record.report.harness)
    if versions != (folder.task.version, HARNESS_VERSION):
        return False
    return path.is_file() and digest(path) == record.source_sha256


def digest(path: Path) -> str:
    """SHA-256 of a source file."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _read_all(root: Path) -> Iterator[tuple[Path, Record]]:
    for path in sorted(root.glob("*/*.json")):
        try:
            record = Record.model_validate_json(path.read_bytes())
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            where = ".".join(str(part) for part in first["loc"])
            raise RecordError(f"{path}: {where or 'record'}: {first['msg']}") from None
        report = record.report
        if (report.task, report.device.value.lower()) != (path.stem, path.parent.name):
            raise RecordError(f"{path}: the report is of {report.task} on {report.device.value}")
        yield path, record
