"""Puts the web service together."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

import redis
from anyio.to_thread import run_sync
from fastapi import FastAPI

from app import api, problems
from app.accounts import Accounts, Throttle
from app.attempts import Attempts
from app.background import Background
from app.boards import Boards
from app.events import EventConsumer
from app.guard import RequestGuard
from app.health import HealthCheck
from app.metrics import Metrics
from app.pages import mount_pages
from app.presence import Presence
from app.queue import JobQueue
from app.reaper import Patience, Reaper
from app.redis_server import EmbeddedRedis, check_policy, connect
from app.requests import RequestLog
from app.reruns import Dispatcher, Results
from app.retention import Retention
from app.service import Service
from app.settings import Settings
from app.store import Store
from app.turns import Turns
from app.updates import Updates
from app.webhooks.delivering import Deliverer
from app.webhooks.sending import Sender
from kernels.catalog import Catalog
from kernels.records import Records


@dataclass(frozen=True)
class Parts:
    """Everything one process of the service is made of."""

    settings: Settings
    store: Store
    connection: redis.Redis
    embedded: EmbeddedRedis | None
    queue: JobQueue
    events: EventConsumer
    reaper: Reaper
    service: Service
    background: Background

    async def start(self) -> None:
        """Bring Redis and the tables up, then the loops; SettingsError for a Redis that forgets."""
        if self.embedded is not None:
            await run_sync(self.embedded.ensure)
        else:
            await run_sync(_check_external, self.connection)
        await run_sync(self.store.migrate)
        self.background.start()

    async def stop(self) -> None:
        """Let go of waiters, end the loops, then what they used."""
        self.service.updates.close()
        await run_sync(self.background.stop)
        if self.embedded is not None:
            await run_sync(self.embedded.stop)
        self.connection.close()
        self.store.close()


def create_app(settings: Settings, catalog: Catalog | None = None) -> FastAPI:
    """The whole web service; it starts with the app's lifespan."""
    parts = assemble(settings, catalog or Catalog(settings.tasks_dir))

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        await parts.start()
        listening = asyncio.create_task(parts.service.updates.listen())
        yield
        listening.cancel()
        await asyncio.gather(listening, return_exceptions=True)
        await parts.stop()

    app = FastAPI(
        title="kerneljudge", lifespan=lifespan, docs_url=None, openapi_url="/api/v1/openapi.json"
    )
    app.state.service = parts.service
    app.state.metrics = Metrics(parts.store, parts.service.checkup)
    app.add_middleware(RequestGuard, allowed_hosts=settings.allowed_hosts)
    app.add_middleware(RequestLog, seconds=app.state.metrics.request_seconds)
    problems.install(app)
    for router in api.ROUTERS:
        app.include_router(router)
    mount_pages(app)
    return app


def assemble(settings: Settings, catalog: Catalog) -> Parts:
    """All parts, connected but not started."""
    settings.data_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
    embedded = EmbeddedRedis(settings.redis_socket) if settings.embedded_redis else None
    connection = connect(settings.redis_address)
    store, queue = Store(settings.database_address), JobQueue(connection)
    presence = Presence(store, connection)
    attempts = Attempts(store, queue, connection, catalog)
    patience = Patience(for_worker=settings.wait_limit_seconds)
    dispatcher = Dispatcher(store, connection, queue, catalog, presence, patience)
    results = Results(store, dispatcher, settings.confirmed_places, settings.rerun_limit)
    turns = Turns(store, presence, attempts)
    events = EventConsumer(store, connection, attempts, results, turns)
    reaper = Reaper(store, connection, queue, attempts, turns, events, presence, patience)
    checkup = HealthCheck(
        store, connection, queue, presence, redis_embedded=settings.embedded_redis
    )
    updates = Updates(settings.redis_address)
    accounts = Accounts(settings, store, Throttle(store))
    service = Service(
        settings,
        catalog,
        store,
        attempts,
        turns,
        presence,
        checkup,
        updates,
        accounts,
        dispatcher,
        Boards(store),
        Records(catalog),
    )
    loops = {
        "event consumer": events.run,
        "reaper": reaper.run,
        "webhooks": Deliverer(store, Sender(private=settings.webhook_private)).run,
        "retention": Retention(store, settings.plan_days).run,
        "dispatcher": lambda stop: dispatcher.run(stop, events.backlog),
    }
    background = Background(loops, embedded.ensure if embedded else _nothing)
    return Parts(
        settings=settings,
        store=store,
        connection=connection,
        embedded=embedded,
        queue=queue,
        events=events,
        reaper=reaper,
        service=service,
        background=background,
    )


def _check_external(connection: redis.Redis) -> None:
    try:
        check_policy(connection)
    except redis.ConnectionError:
        return  # it may come later; until then submissions are stored


def _nothing() -> None:
    """An external Redis needs no tending."""
