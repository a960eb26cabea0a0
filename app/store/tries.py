"""How often something was tried: one counter a key, which starts anew after a while."""

from datetime import datetime, timedelta

from sqlalchemy import case, delete
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.orm import Session

from app import clock
from app.store.account_tables import TriesRow

_FORGOTTEN = timedelta(days=1)


def count_up(session: Session, key: str, window: timedelta) -> tuple[int, datetime]:
    """Count one more; how many there are, and since when."""
    now = clock.now()
    session.execute(delete(TriesRow).where(TriesRow.since < now - _FORGOTTEN))
    over = TriesRow.since < now - window
    query = (
        _insert(session)(TriesRow)
        .values(key=key, count=1, since=now)
        .on_conflict_do_update(
            index_elements=["key"],
            set_={
                "count": case((over, 1), else_=TriesRow.count + 1),
                "since": case((over, now), else_=TriesRow.since),
            },
        )
        .returning(TriesRow.count, TriesRow.since)
    )
    count, since = session.execute(query).one()
    return count, since


def forget(session: Session, key: str) -> None:
    """Start anew at once."""
    session.execute(delete(TriesRow).where(TriesRow.key == key))


def _insert(session: Session) -> type[sqlite.Insert] | type[postgresql.Insert]:
    return sqlite.Insert if session.get_bind().dialect.name == "sqlite" else postgresql.Insert
