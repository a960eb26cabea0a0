"""What admins did: rows are only ever added, and the database itself refuses to change them."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from app import clock
from app.store.contest_tables import AuditRow


def note(
    session: Session,
    user: str,
    act: str,
    told: Mapping[str, object],
    *,
    contest: str = "",
    about: str = "",
) -> None:
    """Write an act down, in the transaction that does it; `about` names what it was done to."""
    session.add(
        AuditRow(
            at=clock.now(),
            user=user,
            contest=contest,
            about=about,
            act=act,
            detail=json.dumps(told, ensure_ascii=False, default=str),
        )
    )


def of_contest(session: Session, contest: str, after: int, limit: int) -> Sequence[AuditRow]:
    """Acts of a contest with a number above `after`, oldest first."""
    query = select(AuditRow).where(AuditRow.contest == contest, AuditRow.id > after)
    return session.scalars(query.order_by(AuditRow.id).limit(limit)).all()


def page(
    session: Session, wanted: Mapping[str, Any], before: int | None, limit: int
) -> Sequence[AuditRow]:
    """At most `limit` acts with a number below `before` and these values, newest first."""
    query = select(AuditRow).order_by(AuditRow.id.desc()).limit(limit)
    for name, value in wanted.items():
        query = query.where(getattr(AuditRow, name) == value)
    if before is not None:
        query = query.where(AuditRow.id < before)
    return session.scalars(query).all()


def acts(session: Session) -> Sequence[str]:
    """All kinds of acts that there are, by name."""
    return session.scalars(select(AuditRow.act).distinct().order_by(AuditRow.act)).all()
