"""Conditions on a result beside being right, for continuous integration."""

import re

import click

from kerneljudge.client import Client
from kerneljudge.figures import microseconds, speedup
from kerneljudge.payloads import Submission

_PERCENT = re.compile(r"^(\d+(?:\.\d+)?)\s*%?$")


class Percent(click.ParamType[float]):
    """A share written in percent, with or without the sign."""

    name = "percent"

    def convert(
        self, value: object, parameter: click.Parameter | None, context: click.Context | None
    ) -> float:
        """0.02 of `2%`."""
        if isinstance(value, float):
            return value
        match = _PERCENT.match(str(value))
        if match is None:
            self.fail(f"{value!r} is no share such as 2%", parameter, context)
        return float(match[1]) / 100


def shortfalls(
    client: Client,
    submission: Submission,
    *,
    min_speedup: float | None,
    max_regression: float | None,
    against: str,
    label: str | None,
) -> list[str]:
    """One sentence for each condition that is not met; an empty list if all are."""
    if min_speedup is None and max_regression is None:
        return []
    if submission.score is None or submission.report is None:
        return ["nothing was measured, so the conditions on speed cannot be judged"]
    found = []
    if min_speedup is not None:
        found += _too_slow(submission, min_speedup)
    if max_regression is not None:
        before = _before(client, submission, against, label)
        if before is not None:
            found += _regressed(submission, before, max_regression)
    return found


def _too_slow(submission: Submission, least: float) -> list[str]:
    assert submission.report is not None
    reached = speedup(submission.report)
    if reached is None:
        return ["torch was not measured, so --min-speedup cannot be judged"]
    if reached >= least:
        return []
    return [f"{reached:.3f} times as fast as torch; at least {least:g} is asked for"]


def _regressed(submission: Submission, before: tuple[str, float], most: float) -> list[str]:
    name, score = before
    assert submission.score is not None
    if submission.score <= score * (1 + most):
        return []
    slower = (submission.score / score - 1) * 100
    return [
        f"{microseconds(submission.score)} µs, {slower:.1f} % slower than {name} "
        f"({microseconds(score)} µs); at most {most * 100:g} % is allowed"
    ]


def _before(
    client: Client, submission: Submission, against: str, label: str | None
) -> tuple[str, float] | None:
    """Name and score to compare with; None where there is none yet."""
    if against == "board":
        board = client.board(submission.task, submission.device, limit=1)
        others = [entry for entry in board.entries if entry.submission != submission.id]
        return (f"the board's best, {others[0].submission}", others[0].score) if others else None
    if against == "label":
        return _last_of(client, submission, label)
    other = client.submission(against)
    if other.task != submission.task or other.device != submission.device:
        raise click.UsageError(f"{against} is for {other.task} on {other.device}")
    if other.score is None:
        raise click.UsageError(f"{against} was not measured, so nothing can be held against it")
    return against, other.score


def _last_of(client: Client, submission: Submission, label: str | None) -> tuple[str, float] | None:
    assert label is not None, "asked for before anything was submitted"
    earlier = client.submissions(
        task=submission.task, device=submission.device, verdict="accepted", label=label, limit=2
    )
    for other in earlier:
        if other.id != submission.id and other.score is not None:
            return f"{other.id}, the last one of {label}", other.score
    return None
