"""Whose source one may see, and with it everything that quotes it: plan, kernels, log, findings."""

from sqlalchemy.orm import Session

from app.accounts import Caller
from app.errors import Forbidden
from app.roles import Scope
from app.schemas import SubmissionDetail
from app.settings import Sources
from app.store import contests, submissions
from app.store.tables import SubmissionRow
from kernels.contract import CaseResult, Report


def sees(session: Session, caller: Caller, row: SubmissionRow) -> bool:
    """Whether the caller may know of it: of what was made for a contest, until that is closed,
    only its entrant and admins."""
    return caller.is_admin or not contests.is_sealed(session, row, caller.user)


def sees_source(session: Session, rule: Sources, caller: Caller, row: SubmissionRow) -> bool:
    """One's own always, admins all, others' by a contest's rule or the installation's."""
    if caller.is_admin or caller.user == row.user:
        return True
    if Scope.READ in caller.scopes and contests.shares(session, row, caller.user):
        return True
    if rule == "all":
        return Scope.READ in caller.scopes
    if rule == "solved" and caller.user is not None:
        return submissions.solved(session, caller.user, row.task)
    return False


def sees_all(session: Session, rule: Sources, caller: Caller, task: str) -> bool:
    """Whether the caller may see every source for a task by the installation's rule."""
    if caller.is_admin or rule == "all":
        return Scope.READ in caller.scopes
    return (
        rule == "solved"
        and caller.user is not None
        and submissions.solved(session, caller.user, task)
    )


def check_source(session: Session, rule: Sources, caller: Caller, row: SubmissionRow) -> None:
    """Forbidden for whoever may not see it."""
    if not sees_source(session, rule, caller, row):
        raise Forbidden(
            f"the source of submission {row.id} is not shown to you",
            "Solve the task first." if rule == "solved" else "Ask its author, or an admin.",
        )


def check_own(caller: Caller, row: SubmissionRow) -> None:
    """Forbidden for whoever neither made it nor is an admin."""
    if not (caller.is_admin or caller.user == row.user):
        raise Forbidden(f"submission {row.id} is not yours", "Ask its author, or an admin.")


def without_source(detail: SubmissionDetail) -> SubmissionDetail:
    """A submission as those see it who may not see its source."""
    report = None if detail.report is None else outcome(detail.report)
    return detail.model_copy(update={"source_visible": False, "plan_bytes": None, "report": report})


def outcome(report: Report) -> Report:
    """A report without what quotes the source."""
    hidden = {"diagnostics": (), "kernels": (), "log": ""}
    return report.model_copy(update={**hidden, "cases": tuple(map(_result, report.cases))})


def _result(case: CaseResult) -> CaseResult:
    return case.model_copy(update={"shares": (), "configs": {}})
