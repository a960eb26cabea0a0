"""What admins do before and during a contest; each act is written down with the change it makes."""

from collections.abc import Mapping

from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from app import clock
from app.accounts.credentials import digest, new_secret
from app.audit import Act, act_of
from app.contests.entering import row_of
from app.contests.schemas import (
    Announcement,
    Answer,
    ContestChange,
    ContestDetail,
    ContestRequest,
    Entrant,
    NewContest,
    NewInvite,
    Question,
)
from app.contests.taking_part import detail, entrant_of, question_of
from app.errors import Conflict, Invalid, NotFound
from app.roles import Scope
from app.service import Service
from app.store import audit as log
from app.store import contests, webhooks
from app.store.contest_tables import AnnouncementRow, ContestRow

_MAY_BE_NONE = ("frozen_at", "hourly_limit")
_COPIED = (*ContestChange.model_fields, "name", "device", "team_size")


def create(service: Service, wanted: ContestRequest) -> NewContest:
    """Make a contest, and the code to join it with; Forbidden, Invalid, Conflict."""
    service.caller.require(Scope.ADMIN)
    unknown = [task for task in wanted.tasks if task not in service.catalog]
    if unknown or len(set(wanted.tasks)) < len(wanted.tasks):
        raise Invalid(
            f"there is no task {unknown[0]}" if unknown else "a task is named twice",
            "Name tasks of this installation, each once.",
        )
    secret = new_secret() if wanted.invited_only else None
    row = ContestRow(
        **{name: getattr(wanted, name) for name in _COPIED},
        tasks=" ".join(wanted.tasks),
        invite=None if secret is None else digest(secret),
        created_at=clock.now(),
        closed_at=None,
    )
    _check_window(row)
    try:
        with service.store.write() as session:
            session.add(row)
            session.flush()
            note(service, session, row.name, "create", wanted.model_dump(mode="json"))
            return NewContest(**dict(detail(service, session, row)), invite=secret)
    except IntegrityError:
        raise Conflict(f"there is a contest {wanted.name}", "Choose another name.") from None


def change(service: Service, contest: str, wanted: ContestChange) -> ContestDetail:
    """Change what a contest says; Forbidden, NotFound, Invalid, Conflict once it is closed."""
    changed = {
        name: getattr(wanted, name)
        for name in wanted.model_fields_set
        if name in _MAY_BE_NONE or getattr(wanted, name) is not None
    }
    with service.store.write() as session:
        row = open_row(service, session, contest)
        for name, value in changed.items():
            setattr(row, name, value)
        _check_window(row)
        told = wanted.model_dump(mode="json", include=set(changed))
        note(service, session, contest, "change", told)
        return detail(service, session, row)


def new_invite(service: Service, contest: str) -> NewInvite:
    """A new code in place of the one before; Forbidden, NotFound, Conflict."""
    with service.store.write() as session:
        row = open_row(service, session, contest)
        if row.invite is None:
            raise Conflict(f"every account may join {contest}", "No code is needed.")
        secret = new_secret()
        row.invite = digest(secret)
        note(service, session, contest, "invite", {})
    return NewInvite(invite=secret)


def announce(service: Service, contest: str, text: str) -> Announcement:
    """Tell everybody; Forbidden, NotFound."""
    service.caller.require(Scope.ADMIN)
    with service.store.write() as session:
        row_of(session, contest)
        told = AnnouncementRow(contest=contest, at=clock.now(), text=text)
        session.add(told)
        note(service, session, contest, "announce", {"text": text})
        webhooks.of_contest(session, contest, webhooks.ANNOUNCED, {"text": text})
        return Announcement(at=told.at, text=told.text)


def answer(service: Service, contest: str, number: int, wanted: Answer) -> Question:
    """Answer a question, or answer it anew; Forbidden, NotFound."""
    service.caller.require(Scope.ADMIN)
    with service.store.write() as session:
        row_of(session, contest)
        asked = contests.question(session, contest, number)
        if asked is None:
            raise NotFound(f"{contest} has no question {number}", "Look it up on its page.")
        asked.answer, asked.public = wanted.text, wanted.public
        note(service, session, contest, "answer", {"question": number, **wanted.model_dump()})
        return question_of(session, asked)


def disqualify(service: Service, contest: str, number: int, reason: str) -> Entrant:
    """Take an entrant off the boards, or put it back; Forbidden, NotFound, Conflict."""
    with service.store.write() as session:
        open_row(service, session, contest)
        row = contests.entrant(session, contest, number, lock=True)
        if row is None:
            raise NotFound(f"{contest} has no entrant {number}", "Look it up among the entrants.")
        row.disqualified = reason
        act = "disqualify" if reason else "reinstate"
        note(service, session, contest, act, {"reason": reason}, row.name)
        members = contests.members(session, contest).get(row.id, ())
        return entrant_of(row, tuple(members), True, None)


def audit(service: Service, contest: str, after: int, limit: int) -> tuple[Act, ...]:
    """What admins did, oldest first; Forbidden, NotFound."""
    service.caller.require(Scope.ADMIN)
    with service.store.read() as session:
        row_of(session, contest)
        return tuple(map(act_of, log.of_contest(session, contest, after, limit)))


def note(
    service: Service,
    session: Session,
    contest: str,
    act: str,
    told: Mapping[str, object],
    about: str = "",
) -> None:
    """Write an act down, in the transaction that does it."""
    log.note(session, service.caller.name, act, told, contest=contest, about=about)


def open_row(service: Service, session: Session, contest: str) -> ContestRow:
    """A contest that can still change, locked; Forbidden, NotFound, Conflict."""
    service.caller.require(Scope.ADMIN)
    row = row_of(session, contest, lock=True)
    if row.closed_at is not None:
        raise Conflict(
            f"contest {contest} is closed, and its standings are final",
            "Say what is to be said in an announcement.",
        )
    return row


def _check_window(row: ContestRow) -> None:
    if row.starts_at >= row.ends_at:
        raise Invalid("the contest ends before it starts", "Set an end after the start.")
    if row.frozen_at is not None and not row.starts_at <= row.frozen_at <= row.ends_at:
        raise Invalid(
            "the freeze is outside the contest", "Freeze the boards between its start and its end."
        )
