"""What reads hostile bytes, each as a function that may refuse them but never raise."""

import json
from collections.abc import Callable

from app import events
from kernels.contract import Bundle, PlanRefused, cubin, frame
from kernels.contract.wire import AnswerRefused, BuildAnswer
from tests.build.builds import COPYING
from tests.hostile.test_plans import RUNS, SUBMISSION, honest, judged
from workers import checking, reports

_MOST_WORDS = 2_000


def _bounded(refused: ValueError) -> None:
    assert 0 < len(str(refused)) < _MOST_WORDS


def plan(data: bytes) -> None:
    """A bundle, as the build jail answers it and as the measurer reads it."""
    judged(data)
    try:
        bundle = Bundle.unpack(data)
        cubin.check(bundle)
    except PlanRefused as error:
        return _bounded(error)
    assert Bundle.unpack(bundle.pack()) == bundle


def build_answer(data: bytes) -> None:
    """What the build jail answers."""
    try:
        answer, blobs = BuildAnswer.unpack(data)
    except AnswerRefused as error:
        return _bounded(error)
    if answer.failure is not None:
        report = reports.failed(SUBMISSION, answer.failure)
        assert type(report).model_validate_json(report.model_dump_json()) == report
    for blob in blobs:
        judged(blob)


def interpreter_answer(data: bytes) -> None:
    """What the interpreter's jail answers."""
    answer, _ = checking._read(data, COPYING, RUNS)
    if answer.failure is not None:
        case = checking._failed(COPYING.cases[0], answer.failure)
        report = reports.judged(
            SUBMISSION, (case,), caveats=answer.caveats, diagnostics=answer.failure.diagnostics
        )
        assert not report.verdict.passed


def event(data: bytes) -> None:
    """An entry of the event stream, as the service reads it."""
    try:
        header, _ = frame.unpack(data)
    except frame.FrameRefused:
        return
    try:
        events._parse({b"event": header})
    except events.EventRefused as error:
        _bounded(error)


TARGETS: tuple[Callable[[bytes], None], ...] = (plan, build_answer, interpreter_answer, event)
"""The first byte of an input chooses one; plans twice as often as the others."""


def run(data: bytes) -> None:
    """One input of the fuzzer: a byte that chooses, and what the target reads."""
    if data:
        place = data[0] % (len(TARGETS) + 1)
        TARGETS[place % len(TARGETS)](data[1:])


def seeds() -> list[bytes]:
    """Right inputs of every target, to begin with."""
    bundle = frame.pack(*honest())
    failure = {"verdict": "rejected", "reason": "x", "diagnostics": [{"message": "m", "line": 1}]}
    result = bytes(COPYING.results(COPYING.cases[0])[0].nbytes)
    common = {"submission": "s", "attempt": 1, "worker": "w", "at": "2026-11-30T00:00:00Z"}
    report = reports.judge_error(SUBMISSION, "x").model_dump(mode="json")
    texts: list[tuple[int, bytes]] = [
        (0, bundle),
        (1, frame.pack("{}", [bundle])),
        (1, frame.pack(json.dumps({"failure": failure}))),
        (2, frame.pack(json.dumps({"completed": 2, "caveats": ["c"]}), [result, result])),
        (2, frame.pack(json.dumps({"completed": 1, "failure": failure}), [result])),
        (3, frame.pack(json.dumps({"kind": "stage", "stage": "building", **common}))),
        (3, frame.pack(json.dumps({"kind": "built", "plan": "0" * 64, **common}))),
        (3, frame.pack(json.dumps({"kind": "report", "report": report, **common}))),
    ]
    return [bytes([place]) + data for place, data in texts]
