"""What a submission can be taken away as: its samples as CSV or Parquet, a badge as SVG."""

import csv
import io
from collections.abc import Iterator
from typing import Annotated
from xml.sax.saxutils import escape

from fastapi import APIRouter, Depends
from starlette.responses import PlainTextResponse, Response

from app.access import api_service
from app.api.naming import Named
from app.api.problems import problems
from app.errors import NotFound
from app.pages.plans import Number, kernel_text
from app.schemas import SubmissionDetail
from app.service import Service
from kernels.contract import Report

router = APIRouter(prefix="/api/v1", responses=problems(401, 403, 404, 409, 422, 503))
_COLOURS = {"accepted": "#1a6b35", "checked": "#0a6466"}
_WRONG, _WAITING = "#b3261e", "#54585e"
_CSV = {"content": {"text/csv": {"schema": {"type": "string"}}}}
_PARQUET = {
    "content": {
        "application/vnd.apache.parquet": {"schema": {"type": "string", "format": "binary"}}
    }
}
_COLUMNS = ("case", "sample", "microseconds")
_ABOUT = ("submission", "task", "task_version", "device", "harness")
_SVG = {"content": {"image/svg+xml": {"schema": {"type": "string"}}}}

CurrentService = Annotated[Service, Depends(api_service)]


@router.get("/submissions/{submission}/samples.csv", response_class=Response, responses={200: _CSV})
def read_samples(service: CurrentService, submission: Named) -> Response:
    """Every timed replay: case, its number in the order they were taken, microseconds."""
    report = _measured(service, submission)
    return Response(_table(report), headers=_attached(f"{submission}.csv"), media_type="text/csv")


@router.get(
    "/submissions/{submission}/samples.parquet", response_class=Response, responses={200: _PARQUET}
)
def read_samples_as_parquet(service: CurrentService, submission: Named) -> Response:
    """The same in Parquet, with submission, task, its version, device and harness as metadata."""
    report = _measured(service, submission)
    return Response(
        _columns(report),
        headers=_attached(f"{submission}.parquet"),
        media_type="application/vnd.apache.parquet",
    )


@router.get(
    "/submissions/{submission}/kernels/{number}/{kind}.txt",
    response_class=PlainTextResponse,
)
def read_kernel(service: CurrentService, submission: Named, number: Number, kind: str) -> Response:
    """What the compiler wrote of a kernel of the plan, from 0: `ttir`, `ttgir`, `ptx`, `sass`."""
    return kernel_text(service, submission, number, kind)


@router.get("/submissions/{submission}/badge.svg", response_class=Response, responses={200: _SVG})
def read_badge(service: CurrentService, submission: Named) -> Response:
    """Task and verdict, with the score where it was measured; for a README."""
    detail = service.submission_detail(submission)
    headers = {"Cache-Control": "no-cache"}
    return Response(_badge(detail), media_type="image/svg+xml", headers=headers)


def _measured(service: Service, submission: str) -> Report:
    report = service.submission_detail(submission).report
    if report is None or report.score is None:
        raise NotFound(
            f"submission {submission} has no samples", "Only what was measured has some."
        )
    return report


def _attached(name: str) -> dict[str, str]:
    return {"Content-Disposition": f'attachment; filename="{name}"'}


def _table(report: Report) -> str:
    stream = io.StringIO()
    writer = csv.writer(stream)
    writer.writerow(_COLUMNS)
    writer.writerows(_rows(report))
    return stream.getvalue()


def _columns(report: Report) -> bytes:
    import pyarrow  # 40 MB of memory and a third of a second, for the few that ask
    import pyarrow.parquet

    columns = zip(*_rows(report), strict=True)
    types = (
        pyarrow.dictionary(pyarrow.int32(), pyarrow.string()),
        pyarrow.int32(),
        pyarrow.float64(),
    )
    about = {name: str(getattr(report, name)) for name in _ABOUT}
    schema = pyarrow.schema(zip(_COLUMNS, types, strict=True), metadata=about)
    arrays = [pyarrow.array(column, kind) for column, kind in zip(columns, types, strict=True)]
    stream = io.BytesIO()
    pyarrow.parquet.write_table(pyarrow.table(arrays, schema=schema), stream)
    return stream.getvalue()


def _rows(report: Report) -> Iterator[tuple[str, int, float]]:
    for case in report.cases:
        if case.timing is not None:
            for number, value in enumerate(case.timing.samples, 1):
                yield case.case, number, value


def _badge(detail: SubmissionDetail) -> str:
    verdict = detail.verdict.value if detail.verdict else detail.stage.value
    words = verdict.replace("_", " ")
    if detail.score is not None:
        words = f"{detail.score:.4g} µs on {detail.device.value}"
    colour = _COLOURS.get(verdict, _WRONG if detail.verdict else _WAITING)
    left, right = (round(6.6 * len(text) + 14) for text in (detail.task, words))
    title = escape(f"{detail.task}: {words}")
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{left + right}" height="20" role="img">'
        f"<title>{title}</title>"
        f'<rect width="{left + right}" height="20" rx="3" fill="#3a3f45"/>'
        f'<path d="M{left} 0h{right - 3}a3 3 0 0 1 3 3v14a3 3 0 0 1-3 3H{left}z" fill="{colour}"/>'
        '<g fill="#fff" font-family="Verdana,DejaVu Sans,sans-serif" font-size="11"'
        ' text-anchor="middle">'
        f'<text x="{left / 2}" y="14">{escape(detail.task)}</text>'
        f'<text x="{left + right / 2}" y="14">{escape(words)}</text></g></svg>'
    )
