"""What workers say reaches the database once, in whatever order and however often it comes."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from sqlalchemy import create_engine, text

from app.events import DEAD_LETTERS, GROUP
from app.main import Parts
from kernels.contract import STREAM, DeviceName, Stage, Verdict, bundle_key
from tests.app.judging import consume, judge, payload, publisher, report, say_built, submit


def stage_of(parts: Parts, submission: str) -> tuple[Stage, int]:
    detail = parts.service.submission_detail(submission)
    return detail.stage, detail.attempt


def entries(parts: Parts) -> list[tuple[Any, Any]]:
    answer: Any = parts.connection.xrange(STREAM)
    return list(answer)


def dead_letters(parts: Parts) -> list[dict[str, str]]:
    letters: Any = parts.connection.lrange(DEAD_LETTERS, 0, -1)
    return [json.loads(letter) for letter in letters]


def test_stages_and_the_report_are_stored_and_the_stream_is_emptied(parts: Parts) -> None:
    name = submit(parts).id
    worker = publisher(parts, name)
    worker.stage("building", "compiling")
    consume(parts)
    assert stage_of(parts, name) == (Stage.BUILDING, 1)
    worker.stage("measuring", "checking case a")
    worker.report(report(payload(parts, name)))
    consume(parts)
    detail = parts.service.submission_detail(name)
    assert detail.stage is Stage.FINISHED
    assert detail.verdict is Verdict.CHECKED
    assert detail.report == report(payload(parts, name)).model_copy(
        update={"finished_at": detail.report.finished_at if detail.report else None}
    )
    assert [entry.detail for entry in detail.stages] == [
        "waiting for a worker",
        "compiling",
        "checking case a",
        "checked",
    ]
    assert parts.connection.xlen(STREAM) == 0


def test_an_entry_that_is_delivered_twice_counts_once(parts: Parts) -> None:
    name = submit(parts).id
    publisher(parts, name).stage("building", "compiling")
    [(stream_id, fields)] = entries(parts)
    consume(parts)
    parts.connection.xadd(STREAM, fields, id="999999999999999-0")
    consume(parts)
    assert len(parts.service.stages(name)) == 3  # another entry is another word
    parts.connection.delete(STREAM)
    parts.connection.xadd(STREAM, fields, id=stream_id)
    consume(parts)
    assert len(parts.service.stages(name)) == 3
    assert dead_letters(parts) == []


def test_the_first_report_stands(parts: Parts) -> None:
    name = submit(parts).id
    worker = publisher(parts, name)
    worker.report(report(payload(parts, name)))
    worker.report(report(payload(parts, name), Verdict.WRONG_ANSWER))
    worker.stage("building", "late")
    consume(parts)
    detail = parts.service.submission_detail(name)
    assert detail.verdict is Verdict.CHECKED
    assert "late" not in [entry.detail for entry in detail.stages]
    assert dead_letters(parts) == []


def test_an_attempt_that_was_given_up_is_not_heard(parts: Parts) -> None:
    name = submit(parts).id
    first = publisher(parts, name)
    first.report(report(payload(parts, name), Verdict.JUDGE_ERROR))
    consume(parts)
    assert stage_of(parts, name) == (Stage.QUEUED, 2)
    late = payload(parts, name).model_copy(update={"attempt": 1})
    first.stage("measuring", "late")
    first.report(report(late))
    consume(parts)
    assert stage_of(parts, name) == (Stage.QUEUED, 2)
    publisher(parts, name).report(report(payload(parts, name)))
    consume(parts)
    assert stage_of(parts, name) == (Stage.FINISHED, 2)


def test_a_lasting_judge_error_is_not_tried_again(parts: Parts) -> None:
    name = submit(parts).id
    given = report(payload(parts, name), Verdict.JUDGE_ERROR)
    publisher(parts, name).report(given, lasting=True)
    consume(parts)
    detail = parts.service.submission_detail(name)
    assert (detail.verdict, detail.attempt) == (Verdict.JUDGE_ERROR, 1)
    assert detail.reason == given.reason


def test_a_judge_error_is_tried_three_times(parts: Parts) -> None:
    name = submit(parts).id
    for _ in range(3):
        publisher(parts, name).report(report(payload(parts, name), Verdict.JUDGE_ERROR))
        consume(parts)
    detail = parts.service.submission_detail(name)
    assert (detail.verdict, detail.attempt) == (Verdict.JUDGE_ERROR, 3)
    assert "3 times" in detail.reason


@pytest.mark.parametrize("field", ["submission", "attempt", "task", "device"])
def test_a_report_about_something_else_is_refused(parts: Parts, field: str) -> None:
    name = submit(parts).id
    other: dict[str, Any] = {"submission": "x", "attempt": 2, "task": "matmul"}
    other["device"] = DeviceName.H100
    wrong = report(payload(parts, name)).model_copy(update={field: other[field]})
    publisher(parts, name).report(wrong)
    consume(parts)
    assert stage_of(parts, name) == (Stage.QUEUED, 1)
    assert "about another" in dead_letters(parts)[0]["reason"]


@pytest.mark.parametrize(
    "fields",
    [
        {"event": "{"},
        {"event": b"\xff\xfe"},
        {"event": "[" * 10_000},
        {"event": '{"kind": "stage", "submission": "x"}'},
        {"event": '{"kind": "unknown"}'},
        {"other": "field"},
    ],
)
def test_garbage_is_put_aside_and_what_follows_is_read(
    parts: Parts, fields: dict[Any, Any]
) -> None:
    name = submit(parts).id
    parts.connection.xadd(STREAM, fields)
    publisher(parts, name).stage("building", "compiling")
    consume(parts)
    assert len(dead_letters(parts)) == 1
    assert stage_of(parts, name) == (Stage.BUILDING, 1)
    assert parts.connection.xlen(STREAM) == 0


def test_stages_never_go_back_within_an_attempt(parts: Parts) -> None:
    name = submit(parts).id
    publisher(parts, name).stage("measuring", "first")
    publisher(parts, name).stage("building", "overtaken")
    consume(parts)
    assert stage_of(parts, name) == (Stage.MEASURING, 1)


def test_nul_and_odd_text_are_storable(parts: Parts) -> None:
    name = submit(parts).id
    publisher(parts, name).stage("building", "a\0b \u202e \x1b[31m")
    consume(parts)
    assert parts.service.stages(name)[-1].detail == "a\ufffdb \u202e \x1b[31m"


def test_the_plan_is_kept_and_leaves_redis_with_the_report(parts: Parts) -> None:
    name = submit(parts).id
    say_built(parts, name, b"plan" * 1000)
    consume(parts)
    key = bundle_key(name, 1)
    assert parts.connection.exists(key)  # the measurer may not have read it yet
    publisher(parts, name).report(report(payload(parts, name)))
    consume(parts)
    assert parts.service.submission_plan(name) == b"plan" * 1000
    assert parts.service.submission_detail(name).plan_bytes == 4000
    assert not parts.connection.exists(key)


def test_the_plan_is_kept_although_the_report_overtakes_it(parts: Parts) -> None:
    name = submit(parts).id
    say_built(parts, name, b"plan")
    [(_, built)] = entries(parts)
    parts.connection.delete(STREAM)
    publisher(parts, name).report(report(payload(parts, name)))
    parts.connection.xadd(STREAM, built)
    consume(parts)
    assert parts.service.submission_plan(name) == b"plan"


def test_the_plan_of_a_new_attempt_replaces_the_old(parts: Parts) -> None:
    name = submit(parts).id
    say_built(parts, name, b"old")
    publisher(parts, name).report(report(payload(parts, name), Verdict.JUDGE_ERROR))
    consume(parts)
    say_built(parts, name, b"new")
    consume(parts)
    assert parts.service.submission_plan(name) == b"new"


def test_a_plan_that_is_not_what_its_digest_says_is_not_kept(parts: Parts) -> None:
    name = submit(parts).id
    say_built(parts, name, b"right")
    parts.connection.set(bundle_key(name, 1), b"wrong")
    consume(parts)
    assert parts.service.submission_detail(name).plan_bytes is None


def test_what_a_dead_reader_left_is_taken_over(parts: Parts) -> None:
    name = submit(parts).id
    consume(parts)
    publisher(parts, name).stage("building", "compiling")
    parts.connection.xreadgroup(GROUP, "dead", {STREAM: ">"})
    assert parts.events.consume(threading.Event()) == 0  # it may still be at it
    _age(parts, "dead", deliveries=1)
    consume(parts)
    assert stage_of(parts, name) == (Stage.BUILDING, 1)


def test_readers_that_are_long_gone_are_forgotten(parts: Parts) -> None:
    consume(parts)
    submit(parts)
    publisher(parts, submit(parts).id).stage("building", "compiling")
    for reader in ("busy", "gone"):
        parts.connection.xreadgroup(GROUP, reader, {STREAM: ">"})
    parts.connection.xgroup_createconsumer(STREAM, GROUP, "gone")
    parts.events.forget_readers(idle_ms=0)
    readers: Any = parts.connection.xinfo_consumers(STREAM, GROUP)
    assert [reader["name"] for reader in readers] == [b"busy"]


def test_an_entry_that_kills_its_readers_is_put_aside(parts: Parts) -> None:
    name = submit(parts).id
    consume(parts)
    publisher(parts, name).stage("building", "deadly")
    parts.connection.xreadgroup(GROUP, "dead", {STREAM: ">"})
    _age(parts, "dead", deliveries=9)
    consume(parts)
    assert stage_of(parts, name) == (Stage.QUEUED, 1)
    assert "deliveries" in dead_letters(parts)[0]["reason"]


def test_a_redis_that_lost_its_data_is_read_again(parts: Parts) -> None:
    name = submit(parts).id
    consume(parts)
    parts.connection.flushall()
    publisher(parts, name).stage("building", "compiling")
    consume(parts)
    assert stage_of(parts, name) == (Stage.BUILDING, 1)


def test_an_event_waits_for_a_locked_database(parts: Parts) -> None:
    name = submit(parts).id
    consume(parts)
    publisher(parts, name).report(report(payload(parts, name)))
    stop = threading.Event()
    reader = threading.Thread(target=parts.events.run, args=(stop,))
    with _broken(parts):
        reader.start()
        while not parts.connection.xpending(STREAM, GROUP)["pending"]:
            pass
        assert parts.connection.xlen(STREAM) == 1
    while parts.events.backlog():
        pass
    stop.set()
    reader.join()
    assert stage_of(parts, name) == (Stage.FINISHED, 1)
    assert dead_letters(parts) == []


def test_the_score_is_copied_for_lists(parts: Parts) -> None:
    detail = judge(parts, "ada", 12.5)
    [item] = parts.service.list_submissions().items
    assert (item.id, item.verdict, item.score) == (detail.id, Verdict.ACCEPTED, 12.5)


def _age(parts: Parts, consumer: str, deliveries: int) -> None:
    [(stream_id, _)] = entries(parts)
    parts.connection.xclaim(
        STREAM, GROUP, consumer, 0, [stream_id], idle=60_000, retrycount=deliveries
    )


@contextmanager
def _broken(parts: Parts) -> Iterator[None]:
    """A database that answers every statement with an error."""
    engine = create_engine(parts.settings.database_address)
    with engine.connect() as connection:
        connection.execute(text("ALTER TABLE submissions RENAME TO away"))
        connection.commit()
    yield
    with engine.connect() as connection:
        connection.execute(text("ALTER TABLE away RENAME TO submissions"))
        connection.commit()
    engine.dispose()
