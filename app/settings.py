"""Settings of the web service, read once from the environment."""

import ipaddress
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, TypeVar, get_args
from urllib.parse import urlsplit

from kernels.logs import LogFormat
from kernels.secret_files import with_secrets

ROOT = Path(__file__).resolve().parent.parent
"""The source tree; the service always runs from it."""

LOOPBACK_NAMES = ("localhost", "127.0.0.1", "::1")


Accounts = Literal["off", "closed", "invite", "open"]
Sources = Literal["own", "solved", "all"]
Word = TypeVar("Word", bound=str)


class SettingsError(ValueError):
    """A setting is wrong; the message names the variable and what to set."""


@dataclass(frozen=True)
class Settings:
    """What an operator may choose; every field names its environment variable."""

    data_dir: Path = ROOT / "var"
    """KERNELJUDGE_DATA_DIR: where the embedded database and Redis keep their files."""
    database_url: str = field(default="", repr=False)
    """KERNELJUDGE_DATABASE_URL: PostgreSQL by URL; by default SQLite in the data directory."""
    redis_url: str = field(default="", repr=False)
    """KERNELJUDGE_REDIS_URL: a Redis server; by default an embedded one on a private socket."""
    host: str = "127.0.0.1"
    """KERNELJUDGE_HOST: address to listen on."""
    port: int = 8000
    """KERNELJUDGE_PORT"""
    accounts: Accounts = "off"
    """KERNELJUDGE_ACCOUNTS: `off`, one user and no login; otherwise who may sign up: nobody
    (`closed`), whoever was invited (`invite`) or everybody (`open`)."""
    public_read: bool = False
    """KERNELJUDGE_PUBLIC_READ=1: tasks, boards and verdicts can be read without an account."""
    sources: Sources = "own"
    """KERNELJUDGE_SOURCES: which sources of others a user may read: none (`own`), those of tasks
    that the user has solved (`solved`), or `all`."""
    allow_open: bool = False
    """KERNELJUDGE_ALLOW_OPEN=1: listen beyond this machine although there are no accounts."""
    public_hosts: tuple[str, ...] = ()
    """KERNELJUDGE_PUBLIC_HOSTS: further names, by commas, under which browsers reach it."""
    tasks_dir: Path = ROOT / "kernels" / "tasks"
    """KERNELJUDGE_TASKS_DIR: the tasks, a folder each; the workers need the same."""
    user_waiting_limit: int = 200
    """KERNELJUDGE_USER_WAITING_LIMIT: unfinished submissions that one user may have."""
    user_hourly_limit: int = 120
    """KERNELJUDGE_USER_HOURLY_LIMIT: submissions that one account may make within an hour."""
    user_gpu_seconds_limit: int = 3600
    """KERNELJUDGE_USER_GPU_SECONDS_LIMIT: GPU seconds that one account may use within a day."""
    rerun_limit: int = 50
    """KERNELJUDGE_RERUN_LIMIT: plans that wait to be measured or looked at once more."""
    confirm_top: int | None = None
    """KERNELJUDGE_CONFIRM_TOP: entries whose interval reaches the first so many of a board are
    measured in three processes; 0 for none. By default 3 where there are accounts."""
    waiting_limit: int = 2000
    """KERNELJUDGE_WAITING_LIMIT: unfinished submissions of all users together."""
    plan_days: int = 90
    """KERNELJUDGE_PLAN_DAYS: launch plans are deleted so long after the verdict, unless they are
    on a board; `0` keeps all."""
    log: LogFormat = "text"
    """KERNELJUDGE_LOG: `text` for people, `json` for one object a line."""
    wait_limit_seconds: int = 3600
    """KERNELJUDGE_WAIT_LIMIT_SECONDS: a submission that no worker takes for so long ends."""
    webhook_private: bool = False
    """KERNELJUDGE_WEBHOOK_PRIVATE=1: webhooks may lead to this machine and to private networks,
    also without TLS."""
    oidc_issuer: str = ""
    """KERNELJUDGE_OIDC_ISSUER: address of an OpenID Connect provider to sign in with as well."""
    oidc_client_id: str = ""
    """KERNELJUDGE_OIDC_CLIENT_ID: what the provider calls this installation."""
    oidc_client_secret: str = field(default="", repr=False)
    """KERNELJUDGE_OIDC_CLIENT_SECRET: as the provider gave it; none for a public client."""
    oidc_name: str = "single sign-on"
    """KERNELJUDGE_OIDC_NAME: what its button calls the provider."""
    oidc_domains: tuple[str, ...] = ()
    """KERNELJUDGE_OIDC_DOMAINS: by commas, whose verified e-mail addresses it may vouch for; by
    default everybody whom it knows."""

    def __post_init__(self) -> None:
        if self.oidc_issuer:
            _check_oidc(self)
        if not (self.allow_open or self.has_accounts or _is_loopback(self.host)):
            raise SettingsError(
                f"KERNELJUDGE_HOST={self.host} can be reached by others, and there are no accounts "
                "to keep them apart: set KERNELJUDGE_ACCOUNTS=invite, use 127.0.0.1, or set "
                "KERNELJUDGE_ALLOW_OPEN=1 if everyone on that network may submit"
            )

    @classmethod
    def load(cls, environ: Mapping[str, str] = os.environ) -> "Settings":
        """From the environment; SettingsError names the variable that is wrong."""
        try:
            environ = with_secrets(environ)
        except ValueError as error:
            raise SettingsError(str(error)) from None
        text = {
            name.removeprefix("KERNELJUDGE_"): value
            for name, value in environ.items()
            if name.startswith("KERNELJUDGE_") and value
        }
        return cls(
            data_dir=Path(text.get("DATA_DIR", cls.data_dir)).resolve(),
            database_url=text.get("DATABASE_URL", ""),
            redis_url=text.get("REDIS_URL", ""),
            host=text.get("HOST", cls.host),
            port=_number(text, "PORT", cls.port, 65_535),
            accounts=_word(text, "ACCOUNTS", cls.accounts, get_args(Accounts)),
            public_read=text.get("PUBLIC_READ") == "1",
            sources=_word(text, "SOURCES", cls.sources, get_args(Sources)),
            allow_open=text.get("ALLOW_OPEN") == "1",
            public_hosts=tuple(filter(None, text.get("PUBLIC_HOSTS", "").split(","))),
            tasks_dir=Path(text.get("TASKS_DIR", cls.tasks_dir)).resolve(),
            user_waiting_limit=_number(text, "USER_WAITING_LIMIT", cls.user_waiting_limit),
            user_hourly_limit=_number(text, "USER_HOURLY_LIMIT", cls.user_hourly_limit),
            user_gpu_seconds_limit=_number(
                text, "USER_GPU_SECONDS_LIMIT", cls.user_gpu_seconds_limit
            ),
            rerun_limit=_number(text, "RERUN_LIMIT", cls.rerun_limit),
            confirm_top=_number(text, "CONFIRM_TOP", 0, 100, 0) if "CONFIRM_TOP" in text else None,
            waiting_limit=_number(text, "WAITING_LIMIT", cls.waiting_limit),
            plan_days=0
            if text.get("PLAN_DAYS") == "0"
            else _number(text, "PLAN_DAYS", cls.plan_days),
            log=_word(text, "LOG", cls.log, get_args(LogFormat)),
            wait_limit_seconds=_number(text, "WAIT_LIMIT_SECONDS", cls.wait_limit_seconds),
            webhook_private=text.get("WEBHOOK_PRIVATE") == "1",
            oidc_issuer=text.get("OIDC_ISSUER", ""),
            oidc_client_id=text.get("OIDC_CLIENT_ID", ""),
            oidc_client_secret=text.get("OIDC_CLIENT_SECRET", ""),
            oidc_name=text.get("OIDC_NAME", cls.oidc_name),
            oidc_domains=tuple(filter(None, text.get("OIDC_DOMAINS", "").lower().split(","))),
        )

    @property
    def has_accounts(self) -> bool:
        """Whether whoever asks must say who they are."""
        return self.accounts != "off"

    @property
    def confirmed_places(self) -> int:
        """How many places of a board are confirmed by further sittings."""
        return (3 if self.has_accounts else 0) if self.confirm_top is None else self.confirm_top

    @property
    def embedded_redis(self) -> bool:
        """Whether the service runs its own Redis server."""
        return not self.redis_url

    @property
    def redis_socket(self) -> Path:
        """Socket of the embedded Redis server."""
        return self.data_dir / "redis.sock"

    @property
    def redis_address(self) -> str:
        """URL of the Redis server in use."""
        return self.redis_url or f"unix://{self.redis_socket}"

    @property
    def database_address(self) -> str:
        """URL of the database in use."""
        return self.database_url or f"sqlite:///{self.data_dir / 'kerneljudge.db'}"

    @property
    def allowed_hosts(self) -> frozenset[str] | None:
        """Names that a request may be addressed to; None for any."""
        if not _is_loopback(self.host):
            return None
        return frozenset((*LOOPBACK_NAMES, self.host, *self.public_hosts))


def _check_oidc(settings: Settings) -> None:
    address = urlsplit(settings.oidc_issuer)
    if address.scheme != "https" and not _is_loopback(address.hostname or ""):
        raise SettingsError(
            f"KERNELJUDGE_OIDC_ISSUER={settings.oidc_issuer[:80]}: set an address with https://"
        )
    if not settings.oidc_client_id:
        raise SettingsError("KERNELJUDGE_OIDC_ISSUER is set: set KERNELJUDGE_OIDC_CLIENT_ID too")
    if not settings.has_accounts:
        raise SettingsError("KERNELJUDGE_OIDC_ISSUER is set: set KERNELJUDGE_ACCOUNTS too")


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _word(text: Mapping[str, str], name: str, default: Word, known: tuple[Word, ...]) -> Word:
    value = text.get(name, default)
    for word in known:
        if word == value:
            return word
    raise SettingsError(f"KERNELJUDGE_{name}={value[:40]}: set one of {', '.join(known)}")


def _number(
    text: Mapping[str, str], name: str, default: int, most: int = 10**9, least: int = 1
) -> int:
    value = text.get(name)
    if value is None:
        return default
    if not (value.isascii() and value.isdigit() and least <= int(value[:12]) <= most):
        raise SettingsError(f"KERNELJUDGE_{name}={value[:40]}: set a number from {least} to {most}")
    return int(value)
