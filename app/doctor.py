"""Looks at what the service needs: database, Redis, disk."""

import shutil
from collections.abc import Iterator

import redis
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy.exc import SQLAlchemyError

from app.accounts.provider import Provider
from app.errors import Unavailable
from app.redis_server import connect
from app.settings import Settings, SettingsError
from app.store import Store
from app.store.database import MIGRATIONS
from kernels.catalog import Catalog, CatalogError
from kernels.contract.finding import Finding

_LEAST_FREE = 5 << 30
"""Bytes: some thousand plans and reports."""


def look() -> Iterator[Finding]:
    """Everything, by the settings in the environment; never raises."""
    try:
        settings = Settings.load()
    except SettingsError as error:
        yield Finding(
            subject="settings", state="failure", detail=str(error), remedy="Set it as it says."
        )
        return
    yield _catalogue(settings)
    yield _database(settings)
    yield from _redis(settings)
    if settings.oidc_issuer:
        yield _provider(settings)
    yield _disk(settings)


def _provider(settings: Settings) -> Finding:
    subject = "single sign-on"
    try:
        found = Provider(settings).metadata()
    except Unavailable as error:
        return Finding(
            subject=subject,
            state="failure",
            detail=error.detail,
            remedy="Correct KERNELJUDGE_OIDC_ISSUER, or let this host reach it.",
        )
    return Finding(subject=subject, state="ok", detail=f"{found.issuer} describes itself")


def _catalogue(settings: Settings) -> Finding:
    try:
        names = list(Catalog(settings.tasks_dir))
    except CatalogError as error:
        return Finding(
            subject="tasks", state="failure", detail=str(error), remedy="Correct that file."
        )
    return Finding(subject="tasks", state="ok", detail=f"{len(names)} in {settings.tasks_dir}")


def _database(settings: Settings) -> Finding:
    file = settings.data_dir / "kerneljudge.db"
    if not settings.database_url and not file.exists():
        detail, remedy = f"SQLite, no {file} yet", "The service makes it when it starts."
        return Finding(subject="database", state="warning", detail=detail, remedy=remedy)
    store = Store(settings.database_address)
    kind = "SQLite" if store.embedded else "PostgreSQL"
    try:
        with store.connect() as connection:
            present = MigrationContext.configure(connection).get_current_revision()
    except SQLAlchemyError as error:
        remedy = "Start it, or correct KERNELJUDGE_DATABASE_URL; its own log says more."
        detail = f"{kind} does not answer ({type(error).__name__})"
        return Finding(subject="database", state="failure", detail=detail, remedy=remedy)
    finally:
        store.close()
    wanted = _newest_revision()
    if present == wanted:
        return Finding(subject="database", state="ok", detail=f"{kind}, tables of version {wanted}")
    return Finding(
        subject="database",
        state="warning",
        detail=f"{kind}, tables of version {present or 'none'}, not {wanted}",
        remedy="The service brings them up to date when it starts; make a backup before.",
    )


def _newest_revision() -> str | None:
    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS).replace("%", "%%"))
    return ScriptDirectory.from_config(config).get_current_head()


def _redis(settings: Settings) -> Iterator[Finding]:
    connection = connect(settings.redis_address)
    try:
        connection.ping()
        yield Finding(subject="Redis", state="ok", detail=_server(connection))
        yield _eviction(connection)
        yield _durability(connection)
    except redis.RedisError as error:
        own = settings.embedded_redis
        yield Finding(
            subject="Redis",
            state="warning" if own else "failure",
            detail=f"does not answer ({type(error).__name__})",
            remedy="The service starts it."
            if own
            else "Start it, or correct KERNELJUDGE_REDIS_URL.",
        )
    finally:
        connection.close()


def _server(connection: redis.Redis) -> str:
    info = connection.info("server")
    return f"{info.get('server_name', 'redis')} {info.get('redis_version')}"


def _setting(connection: redis.Redis, name: str) -> str | None:
    """None where the server does not show it."""
    try:
        return str(connection.config_get(name).get(name))
    except redis.ResponseError:
        return None


def _eviction(connection: redis.Redis) -> Finding:
    policy = _setting(connection, "maxmemory-policy")
    good = policy in ("noeviction", None)
    return Finding(
        subject="Redis eviction",
        state="ok" if good else "failure",
        detail=f"maxmemory-policy {policy or 'is not shown to this user'}",
        remedy="" if good else "Set maxmemory-policy noeviction; queued work would be lost.",
    )


def _durability(connection: redis.Redis) -> Finding:
    kept = _setting(connection, "appendonly")
    good = kept in ("yes", None)
    return Finding(
        subject="Redis durability",
        state="ok" if good else "warning",
        detail=f"appendonly {kept or 'is not shown to this user'}",
        remedy=""
        if good
        else "Set appendonly yes: otherwise a restart of Redis costs each waiting submission time.",
    )


def _disk(settings: Settings) -> Finding:
    folder = settings.data_dir
    while not folder.exists():
        folder = folder.parent
    free = shutil.disk_usage(folder).free
    good = free >= _LEAST_FREE
    return Finding(
        subject="disk",
        state="ok" if good else "warning",
        detail=f"{free / 2**30:.1f} GiB free for {settings.data_dir}",
        remedy="" if good else "Make room, or set KERNELJUDGE_DATA_DIR to another disk.",
    )
