"""What `kerneljudge doctor` finds of a service: sound, not started, and badly set."""

from pathlib import Path

import pytest

from app import doctor
from app.main import Parts
from kernels.contract.finding import Finding
from tests.app.accounts.provider import CLIENT, providing


@pytest.fixture
def environment(parts: Parts, monkeypatch: pytest.MonkeyPatch) -> None:
    """The settings of a started service, as its operator would have them."""
    settings = parts.settings
    monkeypatch.setenv("KERNELJUDGE_DATA_DIR", str(settings.data_dir))
    monkeypatch.setenv("KERNELJUDGE_REDIS_URL", settings.redis_address)
    monkeypatch.setenv("KERNELJUDGE_DATABASE_URL", settings.database_address)


def found() -> dict[str, Finding]:
    return {finding.subject: finding for finding in doctor.look()}


@pytest.mark.usefixtures("environment")
def test_a_sound_service() -> None:
    findings = found()
    assert {f.state for s, f in findings.items() if s != "disk"} == {"ok"}, findings
    assert {"tasks", "database", "Redis", "Redis eviction", "Redis durability"} < set(findings)


@pytest.mark.usefixtures("environment")
def test_a_redis_that_forgets(parts: Parts) -> None:
    parts.connection.config_set("maxmemory-policy", "allkeys-lru")
    parts.connection.config_set("appendonly", "no")
    findings = found()
    assert findings["Redis eviction"].state == "failure"
    assert "noeviction" in findings["Redis eviction"].remedy
    assert findings["Redis durability"].state == "warning"


def test_a_service_that_never_started(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KERNELJUDGE_DATA_DIR", str(tmp_path / "var"))
    findings = found()
    assert findings["database"].state == findings["Redis"].state == "warning"
    assert not (tmp_path / "var").exists(), "looking leaves nothing behind"


def test_what_does_not_answer_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KERNELJUDGE_DATA_DIR", str(tmp_path))
    monkeypatch.setenv("KERNELJUDGE_REDIS_URL", "redis://127.0.0.1:9")
    url = "postgresql+psycopg://u:secret@127.0.0.1:9/x"
    monkeypatch.setenv("KERNELJUDGE_DATABASE_URL", url)
    findings = found()
    assert findings["database"].state == findings["Redis"].state == "failure"
    assert "secret" not in str(findings)


def test_a_wrong_setting_is_the_only_finding(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KERNELJUDGE_PORT", "many")
    (finding,) = doctor.look()
    assert finding.state == "failure"
    assert "KERNELJUDGE_PORT" in finding.detail


def test_a_task_that_cannot_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "task.toml").write_text("title =")
    monkeypatch.setenv("KERNELJUDGE_TASKS_DIR", str(tmp_path))
    monkeypatch.setenv("KERNELJUDGE_DATA_DIR", str(tmp_path / "var"))
    assert found()["tasks"].state == "failure"


@pytest.mark.usefixtures("environment")
def test_a_provider_to_sign_in_with(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KERNELJUDGE_ACCOUNTS", "open")
    monkeypatch.setenv("KERNELJUDGE_OIDC_CLIENT_ID", CLIENT)
    with providing() as provider:
        monkeypatch.setenv("KERNELJUDGE_OIDC_ISSUER", provider.issuer)
        assert found()["single sign-on"].state == "ok"
    gone = found()["single sign-on"]
    assert gone.state == "failure"
    assert "does not answer" in gone.detail
