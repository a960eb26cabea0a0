"""House entries from the reports of a run on a GPU, and the table of them in docs/measured.md.

    python -m scripts.gpu_stack --out build/reports
    python -m scripts.records build/reports

Of each task the accepted solution with the best score becomes kernels/records/<device>/<task>.json.
Without a folder only the table is written again.
"""

import argparse
import re
from collections.abc import Iterator
from pathlib import Path

from kernels.catalog import Catalog
from kernels.contract import CaseResult, DeviceName, Record, Report
from kernels.records import RECORDS, Records, digest
from scripts.stack import ROOT

MEASURED = ROOT / "docs" / "measured.md"
HEADING = "## The best of each task"
_LABEL = re.compile(r"(?P<task>[a-z0-9_]+)-accepted-(?P<solution>[a-z0-9_]+)")
_HEAD = """
Written by `python -m scripts.records` from `kernels/records`, which are reports like any. "Torch"
is the reference's `baseline`, timed in the same rounds; "of the floor" the share of the hardware's
limit, from nominal bandwidth and the peak at the clock read; "of copy" that of what a copy reached
beside it, where memory is the limit.

| task, solution | case | µs | torch, µs | x torch | GB/s | TFLOP/s | of the floor | of copy |
|---|---|---|---|---|---|---|---|---|
"""


def main() -> int:
    """Keep the best reports of a folder, and write the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("reports", type=Path, nargs="?", help="as scripts.gpu_stack wrote them")
    arguments = parser.parse_args()
    catalog = Catalog()
    if arguments.reports is not None:
        for record in best(arguments.reports, catalog).values():
            folder = RECORDS / record.report.device.value.lower()
            folder.mkdir(parents=True, exist_ok=True)
            text = record.model_dump_json(exclude_defaults=True)
            (folder / f"{record.report.task}.json").write_text(text + "\n", "utf-8")
            print(f"{record.report.task}: {record.solution}, {record.report.score:.1f} µs")
    MEASURED.write_text(with_table(MEASURED.read_text("utf-8"), Records(catalog)), "utf-8")
    return 0


def best(folder: Path, catalog: Catalog) -> dict[tuple[str, DeviceName], Record]:
    """The best accepted report of each task and device, as records of the sources as they are."""
    found: dict[tuple[str, DeviceName], Record] = {}
    for task, solution, report in _accepted(folder):
        source = catalog[task].path / "solutions" / f"{solution}.py"
        # What it printed is of the machine that built it.
        silent = report.model_copy(update={"log": ""})
        record = Record(solution=solution, source_sha256=digest(source), report=silent)
        known = found.get((task, report.device))
        if known is None or (report.score or 0) < (known.report.score or 0):
            found[task, report.device] = record
    return found


def with_table(text: str, records: Records) -> str:
    """A document whose section of records is that of these records."""
    start = text.index(HEADING)
    end = text.find("\n## ", start + 1)
    rest = text[end + 1 :] if end >= 0 else ""
    return text[:start] + section(records) + ("\n" + rest if rest else "")


def section(records: Records) -> str:
    """The section, in Markdown."""
    rows = [row for key in sorted(records) for row in _rows(records[key])]
    return f"{HEADING}\n{_provenance(records)}{_HEAD}" + "\n".join(rows) + "\n"


def _accepted(folder: Path) -> Iterator[tuple[str, str, Report]]:
    for path in sorted(folder.glob("*-accepted-*.json")):
        label = _LABEL.fullmatch(path.stem)
        report = Report.model_validate_json(path.read_bytes())
        if label is not None and report.score is not None and report.verdict.passed:
            yield label["task"], label["solution"], report


def _provenance(records: Records) -> str:
    lines = set()
    for record in records.values():
        environment, day = record.report.environment, record.report.finished_at.date()
        if environment is not None:
            lines.add(
                f"{day}: {environment.gpu}, driver {environment.driver}, "
                f"torch {environment.torch}, Triton {environment.triton}.\n"
            )
    return "\n" + "\n".join(sorted(lines))


def _rows(record: Record) -> Iterator[str]:
    name = f"{record.report.task}, `{record.solution}`"
    for case in record.report.cases:
        if case.timing is not None:
            yield f"| {name} | {_figures(case)} |"
            name = ""


def _figures(case: CaseResult) -> str:
    timing = case.timing
    assert timing is not None
    moved, done = timing.bytes_per_second, timing.flops_per_second
    copied = timing.bound == "memory" and timing.anchor == "copy" and timing.ceiling
    torch = timing.torch_microseconds
    cells = (
        case.case,
        _number(timing.microseconds),
        _number(torch) if torch else "",
        f"{timing.speedup:.2f}" if timing.speedup else "",
        f"{moved / 1e9:.0f}",
        f"{done / 1e12:.0f}" if done >= 20e12 else "",
        f"{timing.roofline:.2f}",
        f"{moved / copied:.2f}" if copied else "",
    )
    return " | ".join(cells)


def _number(value: float) -> str:
    return f"{value:.1f}" if value < 1000 else f"{value:.0f}"


if __name__ == "__main__":
    raise SystemExit(main())
