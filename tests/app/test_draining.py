"""Hosts out of service, for admins alone."""

import pytest

from app import draining
from app.accounts import Caller
from app.accounts.callers import scopes_of
from app.audit import ActFilter, list_acts
from app.errors import Forbidden, Unavailable
from app.held import held_submissions
from app.main import Parts
from app.roles import Role
from kernels.contract import DeviceName, Stage
from tests.app.judging import beat


def test_only_admins_drain(parts: Parts) -> None:
    beat(parts.connection, host="one")
    service = parts.service.on_behalf_of(Caller("ada", scopes_of(Role.PARTICIPANT)))
    for act in (draining.drain, draining.resume):
        with pytest.raises(Forbidden):
            act(service, "one")
    for look in (draining.worker_hosts, held_submissions):
        with pytest.raises(Forbidden):
            look(service)
    assert parts.service.presence.drained_hosts() == ()


def test_draining_is_on_record_and_the_drained_serve_nobody(parts: Parts) -> None:
    beat(parts.connection, host="one", state="drained")
    draining.drain(parts.service, "one")
    draining.resume(parts.service, "one")
    acts = list_acts(parts.store, parts.service.caller, ActFilter(about="one"), None, 10).items
    assert [act.act for act in acts] == ["resume", "drain"]
    assert not parts.service.presence.serves(Stage.QUEUED, DeviceName.H200)
    assert "Every worker is drained" in parts.service.health().banners[0]
    assert parts.embedded is not None
    parts.embedded.stop()
    with pytest.raises(Unavailable):
        draining.drain(parts.service, "one")
