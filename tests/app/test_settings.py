"""Settings: unsafe or meaningless ones are refused with the name of the variable."""

from pathlib import Path

import pytest

from app.settings import Settings, SettingsError


def test_defaults_need_nothing() -> None:
    settings = Settings.load({})
    assert settings.host == "127.0.0.1"
    assert settings.embedded_redis
    assert settings.redis_address == f"unix://{settings.redis_socket}"
    assert settings.database_address.startswith("sqlite:///")
    assert settings == Settings()


def test_every_setting_is_read() -> None:
    settings = Settings.load(
        {
            "KERNELJUDGE_DATA_DIR": "/tmp/kj",
            "KERNELJUDGE_DATABASE_URL": "postgresql://u:secret@db/kj",
            "KERNELJUDGE_REDIS_URL": "redis://:secret@queue",
            "KERNELJUDGE_HOST": "0.0.0.0",
            "KERNELJUDGE_PORT": "81",
            "KERNELJUDGE_ACCOUNTS": "invite",
            "KERNELJUDGE_PUBLIC_READ": "1",
            "KERNELJUDGE_SOURCES": "solved",
            "KERNELJUDGE_USER_HOURLY_LIMIT": "5",
            "KERNELJUDGE_USER_GPU_SECONDS_LIMIT": "6",
            "KERNELJUDGE_ALLOW_OPEN": "1",
            "KERNELJUDGE_PUBLIC_HOSTS": "a.example,b.example",
            "KERNELJUDGE_TASKS_DIR": "/srv/tasks",
            "KERNELJUDGE_USER_WAITING_LIMIT": "2",
            "KERNELJUDGE_WAITING_LIMIT": "3",
            "KERNELJUDGE_WAIT_LIMIT_SECONDS": "4",
            "KERNELJUDGE_WEBHOOK_PRIVATE": "1",
            "KERNELJUDGE_OIDC_ISSUER": "https://id.example/",
            "KERNELJUDGE_OIDC_CLIENT_ID": "judge",
            "KERNELJUDGE_OIDC_CLIENT_SECRET": "secret",
            "KERNELJUDGE_OIDC_NAME": "Example",
            "KERNELJUDGE_OIDC_DOMAINS": "Example.org,example.com",
        }
    )
    assert settings == Settings(
        data_dir=Path("/tmp/kj"),
        database_url="postgresql://u:secret@db/kj",
        redis_url="redis://:secret@queue",
        host="0.0.0.0",
        port=81,
        accounts="invite",
        public_read=True,
        sources="solved",
        user_hourly_limit=5,
        user_gpu_seconds_limit=6,
        allow_open=True,
        public_hosts=("a.example", "b.example"),
        tasks_dir=Path("/srv/tasks"),
        user_waiting_limit=2,
        waiting_limit=3,
        wait_limit_seconds=4,
        webhook_private=True,
        oidc_issuer="https://id.example/",
        oidc_client_id="judge",
        oidc_client_secret="secret",
        oidc_name="Example",
        oidc_domains=("example.org", "example.com"),
    )
    assert not settings.embedded_redis
    assert settings.allowed_hosts is None
    assert "secret" not in repr(settings)


@pytest.mark.parametrize(
    ("variables", "told"),
    [
        ({"ISSUER": "http://id.example", "CLIENT_ID": "x"}, "https://"),
        ({"ISSUER": "id.example", "CLIENT_ID": "x"}, "https://"),
        ({"ISSUER": "https://id.example"}, "KERNELJUDGE_OIDC_CLIENT_ID"),
        ({"ISSUER": "https://id.example", "CLIENT_ID": "x"}, "KERNELJUDGE_ACCOUNTS"),
    ],
)
def test_half_a_single_sign_on_is_refused(variables: dict[str, str], told: str) -> None:
    with pytest.raises(SettingsError, match=told):
        Settings.load({f"KERNELJUDGE_OIDC_{name}": value for name, value in variables.items()})


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.1.4", "judge.example"])
def test_others_are_let_in_only_on_request(host: str) -> None:
    with pytest.raises(SettingsError, match="KERNELJUDGE_ALLOW_OPEN"):
        Settings.load({"KERNELJUDGE_HOST": host})


def test_accounts_let_others_in() -> None:
    settings = Settings.load({"KERNELJUDGE_HOST": "0.0.0.0", "KERNELJUDGE_ACCOUNTS": "closed"})
    assert settings.has_accounts


@pytest.mark.parametrize("variable", ["KERNELJUDGE_ACCOUNTS", "KERNELJUDGE_SOURCES"])
def test_an_unknown_word_is_refused(variable: str) -> None:
    with pytest.raises(SettingsError, match=rf"{variable}=On: set one of "):
        Settings.load({variable: "On"})


@pytest.mark.parametrize("host", ["127.0.0.1", "127.0.0.2", "::1", "localhost"])
def test_the_loopback_is_open_to_itself(host: str) -> None:
    settings = Settings.load({"KERNELJUDGE_HOST": host, "KERNELJUDGE_PUBLIC_HOSTS": "a.example"})
    assert settings.allowed_hosts is not None
    assert {host, "localhost", "a.example"} <= settings.allowed_hosts


@pytest.mark.parametrize("port", ["0", "65536", "-1", "x", "²", "1" * 5000])
def test_a_port_that_is_none_is_refused(port: str) -> None:
    with pytest.raises(SettingsError, match="KERNELJUDGE_PORT"):
        Settings.load({"KERNELJUDGE_PORT": port})
