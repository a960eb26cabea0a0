"""The health tells the truth, also when it is bad."""

from datetime import UTC, datetime

import redis

from app.health import HealthCheck
from app.main import Parts
from app.presence import Presence
from app.schemas import Health
from app.store import Store
from kernels.contract import DeviceName
from tests.app.judging import beat, submit
from tests.contract.test_ceilings import ceilings


def look(parts: Parts, connection: redis.Redis | None = None) -> Health:
    """A fresh look; the service's own keeps what it saw for a second."""
    connection = connection or parts.connection
    presence = Presence(parts.store, connection)
    check = HealthCheck(parts.store, connection, parts.queue, presence, redis_embedded=True)
    return check.look()


def test_without_workers_it_is_degraded_and_says_so(parts: Parts) -> None:
    health = look(parts)
    assert health.status == "degraded"
    assert health.database.ok
    assert health.redis.ok
    assert "No worker" in health.banners[0]


def test_a_builder_alone_is_fine_but_measures_nothing(parts: Parts) -> None:
    beat(parts.connection)
    submit(parts)
    health = look(parts)
    assert health.status == "ok"
    assert "No GPU" in health.banners[0]
    assert health.queues[0].waiting == 1
    assert not health.unsafe


def test_an_unsafe_jail_is_shown(parts: Parts) -> None:
    beat(parts.connection, jail="no Landlock", jail_complete=False)
    health = look(parts)
    assert health.unsafe
    assert health.banners[0].startswith("UNSAFE")


def test_a_quarantined_worker_does_not_count(parts: Parts) -> None:
    beat(parts.connection, state="quarantined")
    assert look(parts).status == "degraded"


def test_a_device_is_remembered_when_its_worker_is_gone(parts: Parts) -> None:
    beat(parts.connection)
    beat(parts.connection, name="m", role="measure", device="H100")
    health = look(parts)
    assert health.banners == ()
    assert health.measured_devices == (DeviceName.H100,)
    parts.connection.flushall()
    assert look(parts).measured_devices == (DeviceName.H100,)
    detail = submit(parts)
    assert (detail.device, detail.measured) == (DeviceName.H100, True)
    beat(parts.connection)
    (banner,) = look(parts).banners
    assert "No H100 serves now" in banner


def test_what_a_gpu_reaches_is_kept_when_its_worker_is_gone(parts: Parts) -> None:
    beat(parts.connection, name="m", role="measure", device="H200", ceilings=ceilings())
    assert look(parts).ceilings == {DeviceName.H200: ceilings()}
    parts.connection.flushall()
    assert look(parts).ceilings == {DeviceName.H200: ceilings()}
    beat(parts.connection, name="m", role="measure", device="H200")
    assert look(parts).ceilings == {DeviceName.H200: ceilings()}


def test_the_ceilings_taken_last_count_and_absurd_ones_do_not(parts: Parts) -> None:
    newer = ceilings(copy_bytes_per_second=4.2e12, taken_at=datetime(2026, 12, 1, tzinfo=UTC))
    absurd = ceilings(copy_bytes_per_second=1e13, taken_at=datetime(2026, 12, 2, tzinfo=UTC))
    for name, told in (("a", newer), ("b", ceilings()), ("c", absurd)):
        beat(parts.connection, name=name, role="measure", device="H200", ceilings=told)
    assert look(parts).ceilings == {DeviceName.H200: newer}


def test_a_measurer_that_is_not_ready_is_no_measurer_yet(parts: Parts) -> None:
    beat(parts.connection, name="m", role="measure", device="H100", state="starting")
    assert look(parts).measured_devices == ()
    assert submit(parts).measured is False


def test_a_forged_heartbeat_is_passed_over(parts: Parts) -> None:
    beat(parts.connection)
    parts.connection.set("worker:forged", b"\xff{")
    assert len(look(parts).workers) == 1


def test_a_dead_redis_is_shown_and_harms_nothing(parts: Parts) -> None:
    parts.connection.shutdown(nosave=True)
    health = look(parts)
    assert health.status == "degraded"
    assert not health.redis.ok
    assert all(queue.waiting is None for queue in health.queues)


def test_a_dead_database_is_shown(parts: Parts) -> None:
    dead = Store(f"sqlite:///{parts.settings.data_dir}")  # a folder is no database
    presence = Presence(dead, parts.connection)
    check = HealthCheck(dead, parts.connection, parts.queue, presence, redis_embedded=True)
    health = check.look()
    assert health.status == "down"
    assert not health.database.ok
    assert "database" in health.banners[0]
