"""The audit log as admins read it: every act of an admin, by whom, when and on what."""

from datetime import datetime
from typing import Annotated

from pydantic import StringConstraints

from app.accounts import Caller
from app.roles import Scope
from app.schemas import ContestName, Schema
from app.store import Store, audit
from app.store.contest_tables import AuditRow

Name = Annotated[str, StringConstraints(pattern=r"^[^\x00-\x1f\x7f]{1,64}$")]
Kind = Annotated[str, StringConstraints(pattern=r"^[a-z ]{1,32}$")]


class Act(Schema):
    """What an admin did."""

    id: int
    at: datetime
    user: str
    """Who did it; `command line` for whoever works on the machine itself."""
    contest: str
    """Where it was done; empty outside of contests."""
    about: str
    """What it was done to: an account, a submission, an invitation, an entrant; or empty."""
    act: str
    detail: str
    """As JSON."""


class ActPage(Schema):
    """Part of the audit log, newest first."""

    items: tuple[Act, ...]
    next_cursor: str | None
    """`cursor` of the next page; None on the last."""


class ActFilter(Schema):
    """Which acts a list holds; None means any."""

    user: Name | None = None
    act: Kind | None = None
    contest: ContestName | None = None
    about: Name | None = None


def list_acts(
    store: Store, caller: Caller, wanted: ActFilter, cursor: str | None, limit: int
) -> ActPage:
    """What admins did, newest first; Forbidden."""
    caller.require(Scope.ADMIN)
    before = None if cursor is None else int(cursor)
    with store.read() as session:
        rows = audit.page(session, wanted.model_dump(exclude_none=True), before, limit + 1)
        shown = tuple(map(act_of, rows[:limit]))
    return ActPage(items=shown, next_cursor=str(shown[-1].id) if len(rows) > limit else None)


def kinds(store: Store, caller: Caller) -> tuple[str, ...]:
    """All acts that one can filter by; Forbidden."""
    caller.require(Scope.ADMIN)
    with store.read() as session:
        return tuple(audit.acts(session))


def act_of(row: AuditRow) -> Act:
    """A row of the log for who may read it."""
    return Act(**{name: getattr(row, name) for name in Act.model_fields})
