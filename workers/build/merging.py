"""Plans that differ only in which timed candidate host code took, made one plan with choices."""

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, replace
from typing import overload

from pydantic import ValidationError

from kernels.contract import (
    Alternative,
    Buffer,
    CasePlan,
    Choice,
    Dropped,
    DType,
    Launch,
    PointerArgument,
    TensorMapArgument,
    TensorOp,
    View,
)
from kernels.contract.steps import Action
from workers.build.common_buffers import join

FUNCTION = "do_bench"
"""What choices between timed candidates are called in reports."""
FIRST = "the first candidate"
Steps = tuple[Launch | TensorOp | Choice, ...]


@dataclass(frozen=True)
class World:
    """The plan that host code makes if one of its timed calls is the fastest."""

    label: str
    """Which call, for a person."""
    plan: CasePlan
    timed_at: int = 0
    """How many of the base plan's steps came before that call."""


@dataclass
class _Region:
    """Steps of the base plan that other plans have otherwise."""

    start: int
    stop: int
    others: list[tuple[str, int, int, Steps]]
    """Label, and what stands in place of which of the base's steps."""


def merge(base: CasePlan, worlds: Sequence[World]) -> CasePlan:
    """The base plan, with a choice wherever the other plans differ; plans that do not fit are
    left out."""
    buffers = base.buffers
    fitting = []
    for world in worlds:
        joined = join(buffers, world.plan)
        if joined is not None and world.plan.outputs == base.outputs:
            buffers, plan = joined
            fitting.append(replace(world, plan=plan))
    regions = _regions(base.steps, fitting)
    unchanged = {index for plan in (base, *(w.plan for w in fitting)) for index in plan.unchanged}
    try:
        return CasePlan(
            **{
                **dict(base),
                "buffers": buffers,
                "steps": _chosen(base, regions, buffers),
                "unchanged": tuple(sorted(unchanged)),
            }
        )
    except ValidationError:  # for example, too many steps in all
        return base


def link(base: CasePlan, choice: int, others: Sequence[CasePlan | None]) -> CasePlan:
    """The base plan, which goes on as after the first alternative of a choice, with alternatives
    that go on as the other plans do, each made for one of the further alternatives. Those whose
    plan is missing or does not fit are dropped. Where the choice itself is no step, as what was
    tuned is no part of the case, the other plans are alternatives like timed candidates. Where all
    that is too much for a plan, the first alternative stands."""
    if not any(_is(step, choice) for step in base.steps):
        found = [World(f"configuration {i}", o) for i, o in enumerate(others, start=2) if o]
        return merge(base, found)
    try:
        return _linked(base, choice, others)
    except ValidationError:  # for example, too many steps in all
        return settled(base, {choice})


def _linked(base: CasePlan, choice: int, others: Sequence[CasePlan | None]) -> CasePlan:
    buffers, plans = base.buffers, {0: base}
    for index, other in enumerate(others, start=1):
        joined = None if other is None else join(buffers, other)
        if other is not None and joined is not None and other.outputs == base.outputs:
            buffers, plans[index] = joined
    steps = [_kept(step, choice, sorted(plans)) for step in base.steps]
    spans = [_difference(base.steps, p.steps) for p in plans.values() if p.steps != base.steps]
    if spans:
        first = next(i for i, s in enumerate(base.steps) if _is(s, choice))
        start = min(first, *(span[0] for span in spans))
        rest = len(base.steps) - max(span[1] for span in spans)
        middles = {i: p.steps[start : len(p.steps) - rest] for i, p in plans.items()}
        steps[start : len(steps) - rest] = [_whole(base, first, start, middles, buffers)]
    unchanged = {index for plan in plans.values() for index in plan.unchanged}
    return CasePlan(
        **{
            **dict(base),
            "buffers": buffers,
            "steps": tuple(steps),
            "unchanged": tuple(sorted(unchanged)),
        }
    )


@overload
def settled(plan: CasePlan, choices: Set[int]) -> CasePlan: ...
@overload
def settled(plan: None, choices: Set[int]) -> None: ...
def settled(plan: CasePlan | None, choices: Set[int]) -> CasePlan | None:
    """The plan with the first alternatives of some choices in their places."""
    if plan is None or not any(_is(step, choice) for step in plan.steps for choice in choices):
        return plan
    steps: list[Launch | TensorOp | Choice] = []
    for step in plan.steps:
        open_ = isinstance(step, Choice) and step.id in choices
        steps += step.alternatives[0].steps if open_ else [step]  # type: ignore[union-attr]
    return CasePlan(**{**dict(plan), "steps": tuple(steps)})


def _is(step: Launch | TensorOp | Choice, choice: int) -> bool:
    return isinstance(step, Choice) and step.id == choice


def _kept(
    step: Launch | TensorOp | Choice, choice: int, indices: Sequence[int]
) -> Launch | TensorOp | Choice:
    """The step, if it is the choice with those of its alternatives alone."""
    if not isinstance(step, Choice) or step.id != choice:
        return step
    lost = [a for i, a in enumerate(step.alternatives) if i not in indices]
    dropped = [Dropped(config=a.config, reason="host code could not go on with it") for a in lost]
    return step.model_copy(
        update={
            "alternatives": tuple(step.alternatives[i] for i in indices),
            "dropped": (*step.dropped, *dropped),
        }
    )


def _whole(
    base: CasePlan,
    first: int,
    start: int,
    middles: Mapping[int, Steps],
    buffers: Sequence[Buffer],
) -> Choice:
    """The choice at `first`, with what follows from each of its alternatives."""
    choice = _kept(base.steps[first], base.steps[first].id, sorted(middles))  # type: ignore[union-attr]
    assert isinstance(choice, Choice)
    alternatives = tuple(
        Alternative(config=alternative.config, steps=_actions(middles[index], {choice.id: index}))
        for index, alternative in zip(sorted(middles), choice.alternatives, strict=True)
    )
    restore = {view.buffer: view for view in choice.restore}
    for view in _state(base.steps[:start], alternatives, buffers):
        restore.setdefault(view.buffer, view)
    reset = {view.buffer for view in choice.reset}
    kept = tuple(view for index, view in restore.items() if index not in reset)
    return choice.model_copy(update={"alternatives": alternatives, "restore": kept})


def _regions(base: Steps, worlds: Sequence[World]) -> list[_Region]:
    """Where plans differ from the base. Those that overlap are one, and so are those of calls
    timed before the other was decided: host code may have chosen among them, and never both."""
    differences = [
        (*_difference(base, w.plan.steps), w.label, w.timed_at)
        for w in worlds
        if w.plan.steps != base
    ]
    regions: list[_Region] = []
    for start, stop, steps, label, timed_at in sorted(differences, key=lambda d: d[:2]):
        last = regions[-1] if regions else None
        if last is None or min(start, timed_at) >= last.stop:
            last = _Region(start, stop, [])
            regions.append(last)
        last.stop = max(last.stop, stop)
        last.others.append((label, start, stop, steps))
    return regions


def _difference(base: Steps, steps: Steps) -> tuple[int, int, Steps]:
    """Where the base differs, and what stands there instead; neither is empty."""
    start = _equal(base, steps)
    end = _equal(base[start:][::-1], steps[start:][::-1])
    if start + end in (len(base), len(steps)):
        start, end = (start - 1, end) if start else (start, end - 1)
    return start, len(base) - end, steps[start : len(steps) - end]


def _equal(one: Steps, other: Steps) -> int:
    """How many steps from the start are equal."""
    pairs = zip(one, other, strict=False)
    return next((i for i, (a, b) in enumerate(pairs) if a != b), min(len(one), len(other)))


def _chosen(base: CasePlan, regions: Sequence[_Region], buffers: Sequence[Buffer]) -> Steps:
    steps: list[Launch | TensorOp | Choice] = []
    position = 0
    free = 1 + max((step.id for step in base.steps if isinstance(step, Choice)), default=-1)
    for number, region in enumerate(regions):
        steps += base.steps[position : region.start]
        alternatives = _alternatives(base.steps, region)
        steps.append(
            Choice(
                id=free + number,
                function=FUNCTION,
                alternatives=alternatives,
                restore=_state(base.steps[: region.start], alternatives, buffers),
                line=_line(alternatives),
            )
        )
        position = region.stop
    return (*steps, *base.steps[position:])


def _alternatives(base: Steps, region: _Region) -> tuple[Alternative, ...]:
    found = [Alternative(config=FIRST, steps=_actions(base[region.start : region.stop]))]
    for label, start, stop, steps in region.others:
        whole = _actions((*base[region.start : start], *steps, *base[stop : region.stop]))
        if all(whole != alternative.steps for alternative in found):
            found.append(Alternative(config=label, steps=whole))
    return tuple(found)


def _actions(steps: Steps, picks: Mapping[int, int] | None = None) -> tuple[Action, ...]:
    """The steps without choices, which cannot stand in a choice: with those alternatives that are
    picked, and otherwise the first."""
    actions: list[Action] = []
    for step in steps:
        if isinstance(step, Choice):
            actions += step.alternatives[(picks or {}).get(step.id, 0)].steps
        else:
            actions.append(step)
    return tuple(actions)


def _state(
    before: Steps, alternatives: Sequence[Alternative], buffers: Sequence[Buffer]
) -> tuple[View, ...]:
    """What every trial must find as the steps before it left it: zeroed locks, for example."""
    made = {index for action in _actions(before) for index in _touched(action)}
    used = {i for each in alternatives for action in each.steps for i in _touched(action)}
    return tuple(
        View(
            buffer=index,
            offset=0,
            shape=(buffers[index].nbytes,),
            strides=(1,),
            dtype=DType.UINT8,
        )
        for index in sorted(made & used)
        if buffers[index].role in ("temporary", "output")
    )


def _touched(action: Action) -> set[int]:
    if isinstance(action, TensorOp):
        return {view.buffer for view in action.views()}
    pointers = (a for a in action.arguments if isinstance(a, PointerArgument | TensorMapArgument))
    return {pointer.buffer for pointer in pointers if pointer.buffer is not None}


def _line(alternatives: Sequence[Alternative]) -> int | None:
    return next((a.line for each in alternatives for a in each.steps if a.line is not None), None)
