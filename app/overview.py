"""All tasks as cards: what stands on their boards, and how far the caller has come."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import exp, log
from typing import Annotated, Literal

from pydantic import StringConstraints

from app import submitting, tasks
from app.schemas import Schema, TaskSummary
from app.service import Service
from app.store import overview
from app.store.overview import First
from kernels.contract import DeviceName, Record, Report, Task, Track

State = Literal["new", "tried", "solved"]
Word = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_]{0,63}$")]


class TaskFilter(Schema):
    """Which cards a list holds and how they are grouped; None means any."""

    track: Word | None = None
    tag: Word | None = None
    difficulty: Literal["easy", "medium", "hard"] | None = None
    state: State | None = None
    group: Literal["course", "difficulty"] = "course"


@dataclass(frozen=True)
class Best:
    """The fastest that is known for a task on a device."""

    score: float
    """Geometric mean of the benchmark cases, microseconds."""
    roofline: float | None
    """Share of the hardware's limit, geometric mean over the same cases."""
    by: str
    """Who made it."""
    submission: str | None
    """None for a house entry."""


@dataclass(frozen=True)
class Card:
    """A task in a list."""

    task: TaskSummary
    picture: str
    """Which operator it draws."""
    state: State
    best: Best | None


@dataclass(frozen=True)
class Group:
    """Cards that belong together, in the order in which they are learned."""

    title: str
    cards: tuple[Card, ...]


def cards(service: Service, device: DeviceName) -> dict[str, Card]:
    """A card for every task by name; blocks on the database."""
    user = service.caller.user
    with service.store.read() as session:
        firsts = overview.firsts(session, device)
        solved = overview.solved(session, user) if user is not None else {}
    found = {}
    for folder in service.catalog.values():
        task = folder.task
        first = firsts.get((task.name, task.version))
        record = service.records.get((task.name, device))
        found[task.name] = Card(
            tasks.summarise(task), picture(task), _state(solved, task.name), _best(first, record)
        )
    return found


def device_of(service: Service) -> DeviceName:
    """Whose boards a list of tasks is about."""
    return submitting.default_device(service.presence.measured_devices())


def grouped(
    found: Mapping[str, Card], tracks: tuple[Track, ...], wanted: TaskFilter
) -> list[Group]:
    """The cards that a filter leaves, by parts of the courses or by difficulty."""
    chosen = [track for track in tracks if wanted.track in (None, track.name)]
    parts = [(part.title, [step.task for step in part.steps]) for t in chosen for part in t.parts]
    order = list(dict.fromkeys(name for _, names in parts for name in names))
    rest = [] if wanted.track else [name for name in found if name not in order]
    if wanted.group == "difficulty":
        every = [*order, *rest]
        parts = [(level, _of_level(found, every, level)) for level in ("easy", "medium", "hard")]
    else:
        parts.append(("Further tasks", rest))
    return list(_groups(found, parts, wanted))


def _of_level(found: Mapping[str, Card], names: list[str], level: str) -> list[str]:
    return [name for name in names if name in found and found[name].task.difficulty == level]


def _groups(
    found: Mapping[str, Card], parts: list[tuple[str, list[str]]], wanted: TaskFilter
) -> Iterator[Group]:
    shown: set[str] = set()
    for title, names in parts:
        here = [name for name in names if name in found and name not in shown]
        shown.update(here)
        fitting = tuple(found[name] for name in here if _fits(found[name], wanted))
        if fitting:
            yield Group(title, fitting)


def _fits(card: Card, wanted: TaskFilter) -> bool:
    return (
        wanted.tag in (None, *card.task.tags)
        and wanted.difficulty in (None, card.task.difficulty)
        and wanted.state in (None, card.state)
    )


def _state(solved: Mapping[str, bool], task: str) -> State:
    if task not in solved:
        return "new"
    return "solved" if solved[task] else "tried"


def _best(first: First | None, record: Record | None) -> Best | None:
    if first is not None:
        shares = [
            case["timing"]["roofline"]
            for case in json.loads(first.report)["cases"]
            if case.get("timing")
        ]
        return Best(first.score, _mean(shares), first.user, first.submission)
    if record is None or record.report.score is None:
        return None
    return Best(record.report.score, _mean(_shares(record.report)), record.solution, None)


def _shares(report: Report) -> list[float | None]:
    return [case.timing.roofline for case in report.cases if case.timing is not None]


def _mean(shares: list[float | None]) -> float | None:
    """Geometric mean; None unless every share is there and positive."""
    positive = [share for share in shares if share]
    if not shares or len(positive) < len(shares):
        return None
    return exp(sum(map(log, positive)) / len(positive))


def picture(task: Task) -> str:
    """Which operator a task's picture shows, told by its tags and the shapes of its tensors."""
    tags, shapes = set(task.tags), [p.shape for p in task.inputs if p.shape is not None]
    for tag in ("random", "scan"):
        if tag in tags:
            return tag
    if tags & {"quantisation", "fp8"}:
        return "quantised"
    if shapes and {"H", "W"} <= set(shapes[0]):
        return "stencil"
    if {"attention", "fusion"} <= tags:
        return "attention"
    if "tensor_cores" in tags:
        several = len(shapes[0]) > 2 or any(p.each for p in task.inputs)
        return "batched" if several else "matmul"
    if len(shapes) > 1 and {len(shape) for shape in shapes[:2]} == {1} and shapes[0] != shapes[1]:
        return "outer"
    if "reduction" in tags:
        return _of_reduction(task, "backward" in tags)
    return "elementwise"


def _of_reduction(task: Task, backward: bool) -> str:
    if backward:
        return "columns"
    same = task.outputs[0].shape == task.inputs[0].shape
    return "rows" if same else "reduction"
