"""Contests: the list, one contest, its standings, and what its hosts do."""

from typing import Annotated, Any

from fastapi import APIRouter, Depends, Form
from starlette.datastructures import FormData
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from app.accounts.schemas import Number
from app.contests import finals, hosting, standings, taking_part
from app.contests.schemas import (
    Answer,
    ContestChange,
    ContestRequest,
    Disqualification,
    JoinRequest,
    Phase,
    Words,
)
from app.errors import ServiceError
from app.pages.access import with_accounts
from app.pages.contest_forms import LABELS, change_fields, draft_of, request_fields, sent
from app.pages.queries import parsed
from app.pages.rendering import render
from app.roles import Scope
from app.schemas import ContestName
from app.service import Service
from app.submitting import default_device
from kernels.contract import DeviceName

router = APIRouter(prefix="/contests")
_SHOWN = 10
_ACTS = 1000
_JOINING = {
    "invite": "Code of the contest",
    "team": "Name of a new team",
    "code": "Code of a team",
}
_ONCE = {"Cache-Control": "no-store"}

WithAccounts = Annotated[Service, Depends(with_accounts)]


async def _form(request: Request) -> FormData:
    return await request.form()


Sent = Annotated[FormData, Depends(_form)]
Text = Annotated[str, Form(max_length=20_000)]


def _hosts(service: WithAccounts) -> Service:
    service.caller.require(Scope.ADMIN)
    return service


AdminService = Annotated[Service, Depends(_hosts)]


@router.get("")
def list_contests(
    request: Request, service: WithAccounts, cursor: ContestName | None = None
) -> Response:
    """Contests, and for admins a form that makes one."""
    return _list(request, service, {"zone": "UTC"}, cursor=cursor)


@router.post("")
def create_contest(request: Request, service: AdminService, form: Sent) -> Response:
    """Make one; the code to join it with is on the next page and never again."""
    try:
        made = hosting.create(service, parsed(ContestRequest, request_fields(form), LABELS))
    except ServiceError as problem:
        return _list(request, service, sent(form), problem)
    return _host(request, service, made.name, invite=made.invite or "")


@router.get("/{contest}")
def show_contest(request: Request, service: WithAccounts, contest: str) -> Response:
    """One contest: what it is about, one's part in it, and what was said."""
    return _contest(request, service, contest)


@router.get("/{contest}/standings")
def show_standings(request: Request, service: WithAccounts, contest: str) -> Response:
    """The places, and the board of each task."""
    return render(
        request,
        "contest_standings.html",
        contest=taking_part.read_contest(service, contest),
        standings=standings.standings(service, contest),
    )


@router.post("/{contest}/join")
def join(
    request: Request,
    service: WithAccounts,
    contest: str,
    invite: Text = "",
    team: Text = "",
    code: Text = "",
) -> Response:
    """Take part; the code of a new team is on the next page and never again."""
    fields = {"invite": invite.strip(), "team": team.strip(), "code": code.strip()}
    try:
        wanted = parsed(JoinRequest, {k: v or None for k, v in fields.items()}, _JOINING)
        joined = taking_part.join(service, contest, wanted)
    except ServiceError as problem:
        return _contest(request, service, contest, problem=problem)
    if joined.code is None:
        return RedirectResponse(f"/contests/{contest}", 303)
    return _contest(request, service, contest, code=joined.code)


@router.post("/{contest}/leave")
def leave(request: Request, service: WithAccounts, contest: str) -> Response:
    """Take part no more."""
    try:
        taking_part.leave(service, contest)
    except ServiceError as problem:
        return _contest(request, service, contest, problem=problem)
    return RedirectResponse(f"/contests/{contest}#part", 303)


@router.post("/{contest}/questions")
def ask(request: Request, service: WithAccounts, contest: str, text: Text = "") -> Response:
    """Ask the hosts."""
    try:
        taking_part.ask(service, contest, _words(text))
    except ServiceError as problem:
        return _contest(request, service, contest, problem=problem)
    return RedirectResponse(f"/contests/{contest}#questions", 303)


@router.get("/{contest}/host")
def show_host(request: Request, service: AdminService, contest: str) -> Response:
    """What hosts do."""
    return _host(request, service, contest)


@router.post("/{contest}/host/change")
def change_contest(request: Request, service: AdminService, contest: str, form: Sent) -> Response:
    """Change what the contest says."""
    try:
        hosting.change(service, contest, parsed(ContestChange, change_fields(form), LABELS))
    except ServiceError as problem:
        return _host(request, service, contest, problem=problem, draft=sent(form))
    return _back(contest, "")


@router.post("/{contest}/host/invite")
def renew_invite(request: Request, service: AdminService, contest: str) -> Response:
    """A new code, which is on this page and never again."""
    try:
        made = hosting.new_invite(service, contest)
    except ServiceError as problem:
        return _host(request, service, contest, problem=problem)
    return _host(request, service, contest, invite=made.invite or "")


@router.post("/{contest}/host/announcements")
def announce(request: Request, service: AdminService, contest: str, text: Text = "") -> Response:
    """Tell everybody."""
    try:
        hosting.announce(service, contest, _words(text))
    except ServiceError as problem:
        return _host(request, service, contest, problem=problem)
    return _back(contest, "announcements")


@router.post("/{contest}/host/questions/{number}")
def answer(
    request: Request,
    service: AdminService,
    contest: str,
    number: Number,
    text: Text = "",
    public: Text = "",
) -> Response:
    """Answer a question."""
    try:
        wanted = parsed(Answer, {"text": _lines(text), "public": public == "on"})
        hosting.answer(service, contest, number, wanted)
    except ServiceError as problem:
        return _host(request, service, contest, problem=problem)
    return _back(contest, "questions")


@router.post("/{contest}/host/entrants/{number}")
def disqualify(
    request: Request, service: AdminService, contest: str, number: Number, reason: Text = ""
) -> Response:
    """Disqualify an entrant or, without a reason, put it back."""
    try:
        wanted = parsed(Disqualification, {"reason": reason.strip()})
        hosting.disqualify(service, contest, number, wanted.reason)
    except ServiceError as problem:
        return _host(request, service, contest, problem=problem)
    return _back(contest, "entrants")


@router.post("/{contest}/host/finals")
def remeasure(request: Request, service: AdminService, contest: str) -> Response:
    """Measure the best again."""
    try:
        finals.remeasure(service, contest)
    except ServiceError as problem:
        return _host(request, service, contest, problem=problem)
    return _back(contest, "end")


@router.post("/{contest}/host/close")
def close(request: Request, service: AdminService, contest: str, unmeasured: Text = "") -> Response:
    """Store the final standings."""
    try:
        finals.close(service, contest, unmeasured=unmeasured == "on")
    except ServiceError as problem:
        return _host(request, service, contest, problem=problem)
    return RedirectResponse(f"/contests/{contest}/standings", 303)


def _words(text: str) -> str:
    return parsed(Words, {"text": _lines(text)}).text


def _lines(text: str) -> str:
    return text.replace("\r\n", "\n")  # forms send every line end as CR LF


def _back(contest: str, part: str) -> Response:
    return RedirectResponse(f"/contests/{contest}/host#{part}", 303)


def _list(
    request: Request,
    service: Service,
    draft: dict[str, Any],
    problem: ServiceError | None = None,
    cursor: str | None = None,
) -> Response:
    return render(
        request,
        "contests.html",
        **_problem(problem),
        page=taking_part.list_contests(service, cursor),
        tasks=service.list_tasks(),
        devices=tuple(DeviceName),
        draft={"device": default_device(service.presence.measured_devices())} | draft,
    )


def _contest(
    request: Request,
    service: Service,
    contest: str,
    *,
    problem: ServiceError | None = None,
    code: str = "",
) -> Response:
    """NotFound."""
    detail = taking_part.read_contest(service, contest)
    return render(
        request,
        "contest.html",
        **_problem(problem),
        headers=_ONCE if code else None,
        contest=detail,
        titles={task.name: task.title for task in service.list_tasks()},
        totals=standings.standings(service, contest).totals[:_SHOWN],
        phases=Phase,
        code=code,
    )


def _host(
    request: Request,
    service: Service,
    contest: str,
    *,
    problem: ServiceError | None = None,
    draft: dict[str, Any] | None = None,
    invite: str = "",
) -> Response:
    """NotFound."""
    detail = taking_part.read_contest(service, contest)
    return render(
        request,
        "contest_host.html",
        **_problem(problem),
        headers=_ONCE if invite else None,
        contest=detail,
        entrants=taking_part.list_entrants(service, contest),
        finals=finals.finals_of(service, contest),
        acts=hosting.audit(service, contest, 0, _ACTS),
        phases=Phase,
        draft=draft_of(detail) if draft is None else draft,
        invite=invite,
    )


def _problem(problem: ServiceError | None) -> dict[str, Any]:
    return {
        "status": problem.status if problem else 200,
        "problem": problem.problem if problem else None,
    }
