"""One case of a launch plan as rows of a table."""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from kernels.contract import Plan, Report
from kernels.contract.plan import CasePlan
from kernels.contract.printing import argument_text, buffer_text, operation_text
from kernels.contract.steps import Action, Alternative, Choice, Launch

MOST_ROWS = 500
"""Steps and buffers shown of a case; the packed plan has all."""


@dataclass(frozen=True)
class Row:
    """A launch or an operation."""

    kernel: str | None
    """Digest of the kernel that is launched; None for an operation."""
    name: str
    """The kernel's function; empty for an operation."""
    grid: tuple[int, int, int] | None
    arguments: tuple[str, ...]
    line: int | None
    share: float | None
    """Of the case's time; None where it is not known of this step alone."""
    config: str = ""
    """The autotune configuration that it belongs to."""
    taken: bool = True
    """Whether the judge chose this configuration."""


@dataclass(frozen=True)
class CaseView:
    """What a case would run."""

    case: str
    rows: tuple[Row, ...]
    buffers: tuple[str, ...]
    left_out: int
    """Steps that are not shown."""
    notes: tuple[str, ...]


@dataclass(frozen=True)
class Uses:
    """What tells one kernel from others compiled from the same function."""

    configs: tuple[str, ...]
    """The autotune configurations that launch it."""
    cases: tuple[str, ...]


def uses(cases: Iterable[CasePlan]) -> dict[str, Uses]:
    """By digest of the cubin, what launches it in these cases."""
    found: dict[str, tuple[dict[str, None], dict[str, None]]] = {}
    for case in cases:
        for config, action in _actions(case):
            if isinstance(action, Launch):
                configs, names = found.setdefault(action.kernel, ({}, {}))
                configs |= {config: None} if config else {}
                names[case.case] = None
    return {sha: Uses(tuple(configs), tuple(names)) for sha, (configs, names) in found.items()}


def _actions(case: CasePlan) -> Iterator[tuple[str, Action]]:
    for step in case.steps:
        if isinstance(step, Choice):
            for alternative in step.alternatives:
                yield from ((alternative.config, action) for action in alternative.steps)
        else:
            yield "", step


def case_view(case: CasePlan, plan: Plan, report: Report | None) -> CaseView:
    """The steps of a case, with shares and choices from the report."""
    results = [found for found in report.cases if found.case == case.case] if report else []
    shares = {share.step: share.share for found in results for share in found.shares}
    chosen = {key: value for found in results for key, value in found.configs.items()}
    rows = list(_rows(case, plan, chosen))
    often = Counter(row.name for row in rows if row.taken)
    known = tuple(
        _with_share(row, shares) if row.taken and often[row.name] == 1 else row for row in rows
    )
    buffers = tuple(buffer_text(buffer) for buffer in case.buffers[:MOST_ROWS])
    return CaseView(
        case.case, known[:MOST_ROWS], buffers, max(0, len(known) - MOST_ROWS), case.notes
    )


def _rows(case: CasePlan, plan: Plan, chosen: dict[str, str]) -> Iterator[Row]:
    for step in case.steps:
        if not isinstance(step, Choice):
            yield _row(step, plan)
            continue
        for alternative in step.alternatives:
            taken = _taken(step, alternative, chosen)
            for action in alternative.steps:
                yield _row(action, plan, alternative.config, taken)


def _taken(step: Choice, alternative: Alternative, chosen: dict[str, str]) -> bool:
    if len(step.alternatives) == 1:
        return True
    return chosen.get(step.function) == alternative.config


def _row(action: Action, plan: Plan, config: str = "", taken: bool = True) -> Row:
    if not isinstance(action, Launch):
        return Row(None, "", None, (operation_text(action),), action.line, None, config, taken)
    name = plan.kernels[action.kernel].function
    arguments = tuple(map(argument_text, action.arguments))
    return Row(action.kernel, name, action.grid, arguments, action.line, None, config, taken)


def _with_share(row: Row, shares: dict[str, float]) -> Row:
    share = shares.get(row.name) if row.name else None
    return Row(**{**vars(row), "share": share})
