"""Whoever waits for a submission is woken by a change of it, and of it alone."""

import asyncio
from contextlib import ExitStack

from app.attempts import UPDATES
from app.main import Parts
from app.updates import Updates


def test_only_those_who_wait_for_it_are_woken(parts: Parts) -> None:
    async def scenario() -> None:
        updates = Updates(parts.settings.redis_address)
        listening = asyncio.create_task(updates.listen())
        with updates.watch("mine") as mine, updates.watch("other") as other:
            await mine.wait()  # everybody looks once when the subscription stands
            mine.clear()
            other.clear()
            parts.connection.publish(UPDATES, b"\xff")
            parts.connection.publish(UPDATES, "mine")
            await mine.wait()
            assert not other.is_set()
            updates.close()
            await other.wait()
        listening.cancel()

    asyncio.run(asyncio.wait_for(scenario(), 30))


def test_a_restart_of_redis_is_survived(parts: Parts) -> None:
    async def scenario() -> None:
        assert parts.embedded is not None
        updates = Updates(parts.settings.redis_address)
        listening = asyncio.create_task(updates.listen())
        with updates.watch("mine") as mine:
            await mine.wait()
            mine.clear()
            parts.connection.shutdown(nosave=True)
            parts.embedded.ensure()
            await mine.wait()  # it looks again once the subscription stands again
            mine.clear()
            parts.connection.publish(UPDATES, "mine")
            await mine.wait()
        listening.cancel()

    asyncio.run(asyncio.wait_for(scenario(), 30))


def test_nobody_stays_in_the_books(parts: Parts) -> None:
    updates = Updates(parts.settings.redis_address)
    with updates.watch("mine"), updates.watch("mine"):
        pass
    assert not updates._watching


def test_many_who_watch_together_look_no_more_often_than_some(parts: Parts) -> None:
    """Unless they are woken; or whoever opens a thousand streams keeps everybody waiting."""
    updates = Updates(parts.settings.redis_address)
    with ExitStack() as watchers:
        for number in range(1000):
            watchers.enter_context(updates.watch(f"s{number % 7}"))
            assert updates.patience >= 3
        assert 1000 / updates.patience <= 30
    assert updates.patience == 3
