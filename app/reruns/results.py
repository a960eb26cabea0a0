"""What measurers say of reruns, put into the database; each word counts once."""

from sqlalchemy.orm import Session

from app.events import EventRefused
from app.reruns import confirming
from app.reruns.dispatcher import Dispatcher
from app.store import Store, board, reruns, submissions, usage
from app.store.reruns import Group
from app.store.tables import SubmissionRow
from kernels.contract import Report, Verdict
from kernels.contract.event import RerunEndEvent, RerunEvent, SittingEvent
from kernels.contract.rerun import RerunState


class Results:
    """Takes in events; one per process, safe to share between threads."""

    def __init__(
        self, store: Store, dispatcher: Dispatcher, confirm_top: int = 0, limit: int = 0
    ) -> None:
        self._store = store
        self._dispatcher = dispatcher
        self._confirm_top = confirm_top
        self._limit = limit

    def apply(self, event: RerunEvent | SittingEvent | RerunEndEvent) -> None:
        """Take in one event; EventRefused for one that nobody asked for."""
        match event:
            case RerunEvent():
                self._got_on(event)
            case SittingEvent():
                self._sat(event)
            case RerunEndEvent() if event.fault:
                self._dispatcher.give_up(event.rerun, event.attempt, event.fault, final=event.final)
            case RerunEndEvent():
                self._ended(event)

    def confirm(self, submission: str) -> None:
        """Ask for further sittings where a new standing is near the top of its board."""
        if not self._confirm_top:
            return
        with self._store.write() as session:
            row = submissions.by_id(session, submission)
            standing = None if row is None else board.standing(session, row)
            if row is None or standing is None:
                return
            name = board.BoardName(row.task, row.task_version, row.device, standing.harness)
            asked = confirming.confirm(session, name, self._confirm_top, self._limit)
        for rerun in asked:
            self._dispatcher.start(rerun)

    def _got_on(self, event: RerunEvent) -> None:
        with self._store.write() as session:
            group = _current(session, event.rerun, event.attempt)
            if group is None:
                return
            group.change(state=RerunState.RUNNING, detail=_storable(event.detail))
        self._dispatcher.announce(group)

    def _sat(self, event: SittingEvent) -> None:
        with self._store.write() as session:
            group = _current(session, event.rerun, event.attempt)
            if group is None:
                return
            row = _checked(group, event)
            group.change(state=RerunState.RUNNING)
            if reruns.add_sitting(session, event.rerun, row, event.turn, event.report):
                _count(session, row, event.report)
        self._dispatcher.announce(group)

    def _ended(self, event: RerunEndEvent) -> None:
        with self._store.write() as session:
            group = _current(session, event.rerun, event.attempt)
            if group is None:
                return
            problem = _unfinished(session, group, event)
            if not problem:
                if event.inspection is not None:
                    body = event.inspection.model_dump_json().replace("\\u0000", "\\ufffd")
                    group.change(inspection=body)
                group.end(RerunState.DONE, "")
                usage.settle(session, event.rerun, event.gpu_seconds)
        if problem:
            self._dispatcher.give_up(event.rerun, event.attempt, problem)
            return
        self._dispatcher.forget(group)
        self._dispatcher.announce(group)
        if not group.first.kind.inspects:
            self.confirm(group.submissions[0].id)


def _current(session: Session, rerun: str, attempt: int) -> Group | None:
    """The rerun, locked, if this is its present, unfinished attempt."""
    group = reruns.group(session, rerun, lock=True)
    if group is None or group.first.finished_at is not None or group.first.attempt != attempt:
        return None
    return group


def _checked(group: Group, event: SittingEvent) -> SubmissionRow:
    report, turn = event.report, event.turn
    row = group.member(turn.submission)
    if row is None or turn not in group.turns():
        raise EventRefused("the sitting was not asked for")
    if (report.submission, report.attempt) != (turn.submission, event.attempt):
        raise EventRefused("the report is about another submission or attempt")
    if (report.task, report.task_version, report.device) != (
        row.task,
        row.task_version,
        row.device,
    ):
        raise EventRefused("the report is about another task or device")
    if report.verdict in (Verdict.JUDGE_ERROR, Verdict.CHECKED, Verdict.CANCELLED):
        raise EventRefused(f"a sitting does not end in {report.verdict}")
    return row


def _count(session: Session, row: SubmissionRow, sitting: Report) -> None:
    """Renew the standing, or hold the submission if it did not pass again."""
    body = submissions.report(session, row)
    if body is None or row.verdict is not Verdict.ACCEPTED:
        return
    if sitting.verdict is Verdict.ACCEPTED:
        board.enter(session, row, Report.model_validate_json(body))
        return
    if sitting.verdict is Verdict.IMPLAUSIBLE and reruns.count(session, row, sitting.verdict) == 1:
        return  # clocks that disagree once may be the machine's fault
    reason = f"measured again it was {sitting.verdict.value}: {sitting.reason}"
    board.hold(session, row, _storable(reason))


def _unfinished(session: Session, group: Group, event: RerunEndEvent) -> str:
    """What is missing of a rerun that says it is done; empty if nothing."""
    if group.first.kind.inspects:
        return "" if event.inspection is not None else "there is no result"
    if set(group.turns()) - reruns.done(session, event.rerun):
        return "not all was measured"
    return ""


def _storable(text: str) -> str:
    return text.replace("\0", "\N{REPLACEMENT CHARACTER}")[:500]
