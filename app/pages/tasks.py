"""One task with its editor and its board."""

import hashlib
import json
import secrets
from dataclasses import dataclass, replace
from typing import Annotated

from fastapi import APIRouter, File, Form
from pydantic import ValidationError
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from app.contests import taking_part
from app.errors import (
    Conflict,
    Forbidden,
    Invalid,
    ServiceError,
    TooLarge,
    TooManyRequests,
    Unavailable,
)
from app.overview import picture
from app.pages.access import CurrentService
from app.pages.boards import BoardFilter, board_view
from app.pages.queries import device_of
from app.pages.rendering import render
from app.schemas import ContestName, SubmitRequest, TaskDetail
from app.service import Service
from kernels.contract import DeviceName, Diagnostic, limits

router = APIRouter()

_CORRECTABLE = (Conflict, Forbidden, Invalid, TooLarge, TooManyRequests, Unavailable)
"""Errors that the form shows beside the source, so that nothing typed is lost."""


@dataclass(frozen=True)
class Draft:
    """What the editor holds when the page opens."""

    source: str
    findings: tuple[Diagnostic, ...] = ()
    """What was found at lines of it when it was judged."""
    origin: str | None = None
    """The submission it was taken from."""
    contest: str | None = None
    """The contest that it is written for."""

    @property
    def diagnostics(self) -> str:
        """JSON for the editor: line and message of each finding."""
        return json.dumps([{"line": f.line, "message": _told(f)} for f in self.findings])


def _told(finding: Diagnostic) -> str:
    return "\n".join(filter(None, (finding.message, finding.remedy)))


@router.get("/tasks/{name}")
def show_task(
    request: Request,
    service: CurrentService,
    name: str,
    device: str | None = None,
    origin: str | None = None,
    contest: ContestName | None = None,
) -> Response:
    """A task; `origin` names a submission to go on from, `device` the board to show, `contest`
    what it is submitted for: by default the one that `origin` was made for."""
    task = service.task_detail(name)
    draft = _draft_of(service, origin) if origin else Draft(task.starter)
    made_for = taking_part.made_for(service, origin) if origin else None
    draft = replace(draft, contest=contest or made_for)
    return _task_page(request, service, task, device_of(device, task), draft)


@router.post("/tasks/{name}")
def submit(
    request: Request,
    service: CurrentService,
    name: str,
    source: Annotated[str, Form()] = "",
    device: Annotated[str, Form()] = "",
    contest: Annotated[str, Form(max_length=64)] = "",
    form_key: Annotated[str, Form(max_length=100)] = "",
    file: Annotated[bytes, File()] = b"",
    check_only: Annotated[bool, Form()] = False,
) -> Response:
    """Submit and go to the submission; a form sent twice is one submission.

    A file is taken instead of the text.
    """
    source = source.replace("\r\n", "\n")  # forms send every line end as CR LF
    try:
        source = _text(file) or source
        fields = {"device": device or None, "contest": contest or None, "check_only": check_only}
        wanted = _request({"task": name, "source": source, **fields})
        submitted = service.submit(wanted, idempotency_key=_key(form_key, wanted))
    except _CORRECTABLE as problem:
        task = service.task_detail(name)
        chosen = device_of(None if isinstance(problem, Invalid) else device, task)
        draft = Draft(source, contest=contest or None)
        return _task_page(request, service, task, chosen, draft, problem)
    return RedirectResponse(f"/submissions/{submitted.submission.id}", 303)


def _text(file: bytes) -> str:
    try:
        return file.decode("utf-8-sig").replace("\r\n", "\n")
    except UnicodeDecodeError:
        raise Invalid(
            "the file is not UTF-8 text", "Save it as plain UTF-8 text and choose it again."
        ) from None


def _request(fields: dict[str, object]) -> SubmitRequest:
    if not str(fields["source"]).strip():
        raise Invalid("the source is empty", "Write or paste a solution, then submit it.")
    try:
        return SubmitRequest.model_validate(fields)
    except ValidationError as error:
        unknown = ", ".join(sorted({str(e["loc"][0]) for e in error.errors()}))
        raise Invalid(
            f"the form holds a {unknown} that is not known here",
            "Choose one of those that this page offers, and submit again.",
        ) from None


def _key(form_key: str, wanted: SubmitRequest) -> str | None:
    """The same form with another source is another submission."""
    if not form_key:
        return None
    text = "\0".join(map(str, (form_key, wanted.task, wanted.device, wanted.source)))
    text += f"\0{wanted.contest}" if wanted.contest else ""
    text += "\0check" if wanted.check_only else ""
    return f"form-{hashlib.sha256(text.encode('utf-8', 'surrogatepass')).hexdigest()}"


def _draft_of(service: Service, submission: str) -> Draft:
    report = service.submission_detail(submission).report
    findings = tuple(found for found in (report.diagnostics if report else ()) if found.line)
    return Draft(service.submission_source(submission), findings, submission)


def _words(task: TaskDetail) -> str:
    """JSON for the editor: the names that a solution uses, each with what it is."""
    words = {task.entry: "the entry function"}
    for parameter in (*task.inputs, *task.outputs):
        shape = parameter.shape
        words[parameter.name] = "a number" if shape is None else f"[{', '.join(shape)}]"
    for case in task.cases:
        words |= dict.fromkeys(case.values.keys() - words.keys(), "of a case")
    return json.dumps(words)


def _task_page(
    request: Request,
    service: Service,
    task: TaskDetail,
    device: DeviceName,
    draft: Draft,
    problem: ServiceError | None = None,
) -> Response:
    retry = {"Retry-After": str(problem.retry_after)} if problem and problem.retry_after else None
    return render(
        request,
        "task.html",
        status=problem.status if problem else 200,
        headers=retry,
        task=task,
        device=device,
        draft=draft,
        view=board_view(service, task.name, device, BoardFilter(rows=10)),
        problem=problem.problem if problem else None,
        starts_afresh=not (draft.origin or problem),
        words=_words(task),
        picture=picture(service.catalog[task.name].task),
        most_bytes=limits.SOURCE_BYTES,
        form_key=secrets.token_urlsafe(12),
    )
