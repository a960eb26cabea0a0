"""Near the top of a board one measurement is not enough; elsewhere it is."""

from collections.abc import Iterator
from dataclasses import replace

import pytest

from app.main import Parts, assemble
from app.store import reruns
from kernels.catalog import Catalog
from kernels.contract import DeviceName
from tests.app.conftest import temporary_settings
from tests.app.rerunning import accepted, measured_again, measurer

TOP = 2


@pytest.fixture
def parts(catalog: Catalog) -> Iterator[Parts]:
    """An installation that confirms the first two, with a measurer."""
    with temporary_settings() as settings:
        parts = assemble(replace(settings, confirm_top=TOP), catalog)
        assert parts.embedded is not None
        parts.embedded.ensure()
        parts.store.migrate()
        parts.events._make_group()
        measurer(parts)
        yield parts
        parts.embedded.stop()
        parts.connection.close()
        parts.store.close()


def waiting(parts: Parts) -> dict[str, str]:
    """Reruns that have not ended, by the submission that they measure."""
    with parts.store.read() as session:
        groups = [reruns.group(session, name) for name in reruns.unfinished(session)]
        return {group.submissions[0].id: group.first.id for group in groups if group}


def sittings(parts: Parts) -> dict[str, int]:
    """How many sittings each entry of the board rests on."""
    board = parts.service.board("softmax", DeviceName.H200)
    return {entry.submission: entry.sittings for entry in board.entries}


def test_who_is_alone_on_a_board_is_not_confirmed(parts: Parts) -> None:
    accepted(parts, "ann")
    assert waiting(parts) == {}


def test_entries_near_the_top_get_three_sittings_one_after_the_other(parts: Parts) -> None:
    one, two = accepted(parts, "ann").id, accepted(parts, "bob", 10.01).id
    for done in (1, 2):
        for submission in (one, two):
            assert sittings(parts)[submission] == done
            parts.service.reruns.sweep(1e9)
            measured_again(parts, waiting(parts)[submission], 10.0)
    assert waiting(parts) == {}
    assert sittings(parts) == {one: 3, two: 3}


def test_who_does_not_reach_the_top_is_not_confirmed(parts: Parts) -> None:
    names = [accepted(parts, user, us).id for user, us in (("ann", 10.0), ("bob", 11.0))]
    late = accepted(parts, "cat", 12.0).id
    near = accepted(parts, "dan", 11.02).id
    assert waiting(parts).keys() == {*names, near}
    assert late not in waiting(parts)


def test_without_the_setting_nobody_is(parts: Parts, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parts.events._reruns, "_confirm_top", 0)
    accepted(parts, "ann")
    accepted(parts, "bob")
    assert waiting(parts) == {}
