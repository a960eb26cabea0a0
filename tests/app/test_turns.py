"""Nobody is held up by another user's many submissions."""

from rq import Queue

from app import clock
from app.main import Parts
from app.reaper import Patience
from app.store.turns import Lane
from app.turns import most_in_flight
from kernels.contract import DeviceName, Verdict
from tests.app.judging import beat, consume, payload, publisher, report, submit

IN_FLIGHT = 4
"""Where no worker is seen."""


def queued(parts: Parts) -> list[str]:
    """Ids of what workers may take, the next first."""
    return [name.split("-")[1] for name in Queue("build", connection=parts.connection).job_ids]


def judge_next(parts: Parts) -> str:
    """Whose submission a worker takes and judges."""
    job = parts.connection.lpop("rq:queue:build")
    assert isinstance(job, bytes)
    name = job.decode().split("-")[1]
    user = parts.service.submission_detail(name).user
    publisher(parts, name).report(report(payload(parts, name)))
    consume(parts)
    return user


def test_redis_holds_what_workers_can_take_and_no_more(parts: Parts) -> None:
    names = [submit(parts, "ada").id for _ in range(2 * IN_FLIGHT)]
    assert queued(parts) == names[:IN_FLIGHT]
    places = [parts.service.submission_detail(name).position for name in names]
    assert places == list(range(1, len(names) + 1))


def test_the_first_of_another_user_waits_for_what_is_under_way_alone(parts: Parts) -> None:
    for _ in range(3 * IN_FLIGHT):
        submit(parts, "ada")
    place = parts.service.submission_detail(submit(parts, "bob").id).position
    assert place is not None
    assert [judge_next(parts) for _ in range(place)] == ["ada"] * (place - 1) + ["bob"]
    assert place <= IN_FLIGHT + 2


def test_who_cancels_makes_room(parts: Parts) -> None:
    names = [submit(parts).id for _ in range(IN_FLIGHT + 2)]
    parts.service.cancel(names[0])
    parts.service.cancel(names[-1])
    assert queued(parts) == names[1:-1]


def test_what_waits_for_its_turn_ends_where_no_worker_is(parts: Parts) -> None:
    names = [submit(parts).id for _ in range(IN_FLIGHT + 2)]
    parts.reaper.sweep(clock.steady() + Patience().for_worker + 1)
    verdicts = {parts.service.submission_detail(name).verdict for name in names}
    assert verdicts == {Verdict.JUDGE_ERROR}


def test_with_workers_it_waits_on(parts: Parts) -> None:
    beat(parts.connection)
    names = [submit(parts).id for _ in range(IN_FLIGHT + 2)]
    parts.reaper.sweep(clock.steady() + Patience().for_worker + 1)
    assert parts.service.submission_detail(names[-1]).position == len(names)


def test_more_workers_get_more(parts: Parts) -> None:
    for number in range(6):
        beat(parts.connection, name=f"build-{number}@test")
    for number in range(2):
        beat(parts.connection, name=f"h200-{number}@test", role="measure", device=DeviceName.H200)
    workers = parts.service.presence.workers()
    assert most_in_flight(workers, Lane(DeviceName.H200, measured=True)) == 6 + 2 * 2
    assert most_in_flight(workers, Lane(DeviceName.H200, measured=False)) == 6 + 2
    assert most_in_flight((), Lane(DeviceName.H100, measured=True)) == IN_FLIGHT
