"""Conditions on a result beside being right, for continuous integration."""

import re
from typing import NamedTuple

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


class Condition(NamedTuple):
    """What was asked for, and what came of it."""

    met: bool
    sentence: str
    """With the figures."""


def conditions(
    client: Client,
    submission: Submission,
    *,
    min_speedup: float | None,
    max_regression: float | None,
    against: str,
    label: str | None,
) -> list[Condition]:
    """What became of each that was set."""
    if min_speedup is None and max_regression is None:
        return []
    if submission.score is None or submission.report is None:
        return [_not("nothing was measured, so the conditions on speed cannot be judged")]
    found = []
    if min_speedup is not None:
        found.append(_fast(speedup(submission.report), min_speedup))
    if max_regression is not None:
        before = _before(client, submission, against, label)
        found.append(_kept(submission.score, before, against, max_regression))
    return found


def _not(sentence: str) -> Condition:
    return Condition(False, sentence)


def _fast(reached: float | None, least: float) -> Condition:
    if reached is None:
        return _not("torch was not measured, so --min-speedup cannot be judged")
    sentence = f"{reached:.3f} times as fast as torch; at least {least:g} is asked for"
    return Condition(reached >= least, sentence)


def _kept(score: float, before: tuple[str, float] | None, against: str, most: float) -> Condition:
    if before is None:
        return Condition(True, f"there is nothing to compare with yet ({against})")
    name, other = before
    slower = (score / other - 1) * 100
    change = f"{abs(slower):.1f} % {'slower' if slower > 0 else 'faster'} than"
    return Condition(
        score <= other * (1 + most),
        f"{microseconds(score)} µs, {change} {name} ({microseconds(other)} µs); "
        f"at most {most * 100:g} % slower is allowed",
    )


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
