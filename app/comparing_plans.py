"""What differs between the launch plans of two submissions."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping

from app.errors import NotFound
from app.schemas import Schema, SubmissionDetail
from app.service import Service
from kernels.contract import Bundle, CasePlan, Plan, PlanRefused, Report
from kernels.contract.steps import Action, Choice, Launch

_MOST_LISTED = 6


class PlanDifference(Schema):
    """A fact of what a case runs."""

    case: str
    fact: str
    first: str
    second: str


def plan_differences(
    service: Service, before: SubmissionDetail, after: SubmissionDetail, cases: Iterable[str]
) -> tuple[PlanDifference, ...] | None:
    """Of these cases; None where one has no plan, or none that the caller may see."""
    one, two = _plan(service, before), _plan(service, after)
    if one is None or two is None:
        return None
    return tuple(
        PlanDifference(case=case, fact=fact, first=first, second=second)
        for case in cases
        for fact, first, second in _differences(
            _facts(one, before.report, case), _facts(two, after.report, case)
        )
    )


def _plan(service: Service, detail: SubmissionDetail) -> Plan | None:
    if not (detail.plan_bytes and detail.source_visible):
        return None
    try:
        return Bundle.unpack(service.submission_plan(detail.id)).plan
    except (NotFound, PlanRefused):  # retention took it away, or an older version made it
        return None


def _differences(one: Mapping[str, str], two: Mapping[str, str]) -> Iterator[tuple[str, str, str]]:
    for fact, value in one.items():
        if two.get(fact, value) != value:
            yield fact, value, two[fact]


def _facts(plan: Plan, report: Report | None, case: str) -> dict[str, str]:
    """Of what is run of a case; empty for one that the plan lacks."""
    found = next((known for known in plan.cases if known.case == case), None)
    if found is None:
        return {}
    results = [result for result in report.cases if result.case == case] if report else []
    actions = list(_taken(found, {k: v for result in results for k, v in result.configs.items()}))
    launches = [action for action in actions if isinstance(action, Launch)]
    operations = Counter(action.op for action in actions if not isinstance(action, Launch))
    tried = max((len(s.alternatives) for s in found.steps if isinstance(s, Choice)), default=1)
    return {
        "launches": str(len(launches)),
        "grids": _listed(
            f"{plan.kernels[launch.kernel].function} {' x '.join(map(str, launch.grid))}"
            for launch in launches
        ),
        "tensor operations": _listed(f"{name} ({n})" for name, n in sorted(operations.items())),
        "configurations tried": str(tried),
        "temporary memory, bytes": str(
            sum(buffer.nbytes for buffer in found.buffers if buffer.role == "temporary")
        ),
    }


def _taken(case: CasePlan, chosen: Mapping[str, str]) -> Iterator[Action]:
    """What runs: of each choice the configuration that was chosen, or the first."""
    for step in case.steps:
        if not isinstance(step, Choice):
            yield step
            continue
        fitting = [a for a in step.alternatives if a.config == chosen.get(step.function)]
        yield from (fitting or step.alternatives)[0].steps


def _listed(texts: Iterable[str]) -> str:
    every = list(texts)
    more = f", {len(every) - _MOST_LISTED} more" if len(every) > _MOST_LISTED else ""
    return ", ".join(every[:_MOST_LISTED]) + more or "none"
