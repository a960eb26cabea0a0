"""Taking worker hosts out of service and back, for admins."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager

import redis

from app.errors import NotFound, Unavailable
from app.roles import Scope
from app.schemas import Schema
from app.service import Service
from app.store import audit
from kernels.contract import WorkerInfo

_log = logging.getLogger(__name__)


class WorkerHost(Schema):
    """The workers of one machine."""

    host: str
    drained: bool
    """Whether they are to take no jobs."""
    workers: tuple[WorkerInfo, ...]
    """Those that live."""


def worker_hosts(service: Service) -> tuple[WorkerHost, ...]:
    """Machines with workers that live, or that are drained, by name; Forbidden, Unavailable."""
    service.caller.require(Scope.ADMIN)
    with _redis_answers():
        drained, workers = service.presence.drained_hosts(), service.presence.workers()
    return tuple(
        WorkerHost(
            host=host,
            drained=host in drained,
            workers=tuple(worker for worker in workers if worker.host == host),
        )
        for host in sorted({*drained, *(worker.host for worker in workers)})
    )


def drain(service: Service, host: str) -> None:
    """Let a host's workers finish what they have and take no more, also after a restart, until it
    is resumed; harmless if repeated. Forbidden, NotFound, Unavailable."""
    _check(service, host)
    with _redis_answers():
        service.presence.drain(host, service.caller.name)
    _note(service, "drain", host)
    _log.info("%s drained the workers of %s", service.caller.name, host)


def resume(service: Service, host: str) -> None:
    """Let them take jobs again; Forbidden, NotFound, Unavailable."""
    _check(service, host)
    with _redis_answers():
        service.presence.resume(host)
    _note(service, "resume", host)
    _log.info("%s resumed the workers of %s", service.caller.name, host)


def _note(service: Service, act: str, host: str) -> None:
    with service.store.write() as session:
        audit.note(session, service.caller.name, act, {"host": host}, about=host[:64])


def _check(service: Service, host: str) -> None:
    if host not in {known.host for known in worker_hosts(service)}:
        raise NotFound(f"no workers run on {host[:64]!r}", "Look the host up among the workers.")


@contextmanager
def _redis_answers() -> Iterator[None]:
    try:
        yield
    except redis.RedisError:
        raise Unavailable("Redis does not answer", "Try again in a moment.") from None
