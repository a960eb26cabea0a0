"""What is not kept for ever: the launch plans of submissions that nobody ranks any more."""

import logging
import threading
from datetime import timedelta

from sqlalchemy import Select, delete, select
from sqlalchemy.exc import SQLAlchemyError

from app import clock
from app.store import Store, audit
from app.store.tables import BoardRow, PlanRow, RerunRow, SubmissionRow

_LOOK_SECONDS = 3600.0
_BATCH = 50
"""Plans deleted in one transaction: others must be able to write between two."""
_log = logging.getLogger(__name__)


class Retention:
    """Deletes plans some days after their submission was finished.

    Source and report stay, so that a plan can be had again by submitting the source again. Plans
    of entries on a board stay as long as they are there, and so do those with a rerun under way.
    """

    def __init__(self, store: Store, plan_days: int) -> None:
        self._store = store
        self._days = plan_days

    def run(self, stop: threading.Event) -> None:
        """Look every hour until told to stop; a database that is away is tried again then."""
        while True:
            try:
                self.prune()
            except SQLAlchemyError as error:
                _log.warning("old plans could not be deleted: %s", type(error).__name__)
            if stop.wait(_LOOK_SECONDS):
                return

    def prune(self) -> int:
        """Delete what is too old; how many plans."""
        if not self._days:
            return 0
        total = 0
        while True:
            with self._store.write() as session:
                chosen = session.scalars(self._too_old()).all()
                session.execute(delete(PlanRow).where(PlanRow.submission.in_(chosen)))
            total += len(chosen)
            if len(chosen) < _BATCH:
                self._tell(total)
                return total

    def _tell(self, plans: int) -> None:
        if not plans:
            return
        _log.info("%d launch plans older than %d days were deleted", plans, self._days)
        with self._store.write() as session:
            audit.note(session, "service", "delete plans", {"plans": plans, "days": self._days})

    def _too_old(self) -> Select[int]:
        before = clock.now() - timedelta(days=self._days)
        return (
            select(PlanRow.submission)
            .join(SubmissionRow, SubmissionRow.number == PlanRow.submission)
            .where(
                SubmissionRow.finished_at < before,
                SubmissionRow.id.not_in(select(BoardRow.submission)),
                PlanRow.submission.not_in(
                    select(RerunRow.submission).where(RerunRow.finished_at.is_(None))
                ),
            )
            .limit(_BATCH)
        )
