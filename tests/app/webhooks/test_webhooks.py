"""Webhooks: what is told, to whom, how it is signed, and that it is told until it was heard."""

import hmac
import json
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from sqlalchemy import update

from app import clock
from app.accounts import Caller, administration
from app.accounts.callers import scopes_of
from app.accounts.schemas import AccountChange
from app.contests import hosting
from app.contests.schemas import ContestRequest
from app.errors import Conflict, Forbidden, Invalid, NotFound
from app.main import Parts, assemble
from app.roles import Role
from app.service import Service
from app.settings import Settings
from app.store import Store, webhooks
from app.store.webhook_tables import DeliveryRow
from app.webhooks import managing, sending
from app.webhooks.delivering import AGAIN, Deliverer
from app.webhooks.managing import Delivery, NewWebhook, WebhookRequest
from app.webhooks.sending import NotAllowed, Sender
from kernels.catalog import Catalog
from kernels.contract import DeviceName
from tests.app.accounts.house import PASSWORD
from tests.app.judging import judge
from tests.app.webhooks.receiving import Receiver, dripping, receiving

ADA = Caller("ada", scopes_of(Role.PARTICIPANT))
BOSS = Caller("boss", scopes_of(Role.ADMIN))


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with receiving() as receiver:
        yield receiver


@pytest.fixture
def parts(settings: Settings, catalog: Catalog) -> Iterator[Parts]:
    """An installation with ada and boss, whose webhooks may lead to this machine."""
    parts = assemble(replace(settings, accounts="open", webhook_private=True), catalog)
    assert parts.embedded is not None
    parts.embedded.ensure()
    parts.store.migrate()
    people(parts.store)
    yield parts
    parts.embedded.stop()
    parts.connection.close()
    parts.store.close()


def people(store: Store) -> None:
    administration.create_account(store, "ada", PASSWORD, Role.PARTICIPANT)
    administration.create_account(store, "boss", PASSWORD, Role.ADMIN)


def hook(service: Service, url: str, contest: str | None = None) -> NewWebhook:
    return managing.create(service, WebhookRequest(url=url, contest=contest))


def verified(secret: str, headers: dict[str, str], body: bytes) -> dict[str, Any]:
    """What a delivery says, once its signature was looked at as the manual says."""
    signed = dict(part.split("=", 1) for part in headers["Kerneljudge-Signature"].split(","))
    expected = hmac.new(secret.encode(), f"{signed['t']}.".encode() + body, "sha256").hexdigest()
    assert hmac.compare_digest(expected, signed["v1"])
    assert abs(time.time() - int(signed["t"])) < 300
    told: dict[str, Any] = json.loads(body)
    return told


def make_due(store: Store) -> None:
    """Let the time until the next attempts pass."""
    with store.write() as session:
        waiting = DeliveryRow.next_at.is_not(None)
        session.execute(update(DeliveryRow).where(waiting).values(next_at=clock.now()))


def only(service: Service, webhook: NewWebhook) -> Delivery:
    """The one delivery of a webhook."""
    (found,) = managing.deliveries(service, webhook.id)
    return found


def test_a_verdict_is_told_once_to_its_author_and_signed(parts: Parts, receiver: Receiver) -> None:
    ada, boss = parts.service.on_behalf_of(ADA), parts.service.on_behalf_of(BOSS)
    mine, others = hook(ada, receiver.url), hook(boss, receiver.url)
    name = judge(parts, "ada", 12.5).id
    deliverer = Deliverer(parts.store, Sender(private=True))
    assert deliverer.deliver() == 1
    assert deliverer.deliver() == 0
    ((headers, body),) = receiver.got
    told = verified(mine.secret, headers, body)
    assert headers["Kerneljudge-Event"] == told["event"] == "submission.judged"
    said = told["submission"]
    assert (said["id"], said["verdict"], said["score"]) == (name, "accepted", 12.5)
    assert set(said) == {
        "id", "user", "task", "task_version", "device", "label", "verdict", "score", "contest",
    }, "nothing that quotes the source or names a hidden case"  # fmt: skip
    found = only(ada, mine)
    assert (found.attempts, found.outcome, found.next_at) == (1, "HTTP 204", None)
    assert found.delivered_at is not None
    assert managing.deliveries(boss, others.id) == ()


def test_what_was_not_heard_is_told_again_until_it_is_given_up(
    parts: Parts, receiver: Receiver
) -> None:
    ada = parts.service.on_behalf_of(ADA)
    webhook = hook(ada, receiver.url)
    judge(parts, "ada", 10.0)
    deliverer = Deliverer(parts.store, Sender(private=True))
    receiver.answers = [500, 302, 204]
    for attempt, outcome in enumerate(("HTTP 500", "HTTP 302"), 1):
        assert deliverer.deliver() == 1
        found = only(ada, webhook)
        assert (found.attempts, found.outcome, found.delivered_at) == (attempt, outcome, None)
        assert found.next_at is not None
        assert found.next_at > clock.now() + AGAIN[attempt - 1] / 2
        assert deliverer.deliver() == 0, "not yet"
        make_due(parts.store)
    assert deliverer.deliver() == 1
    assert only(ada, webhook).delivered_at is not None
    assert len({headers["Kerneljudge-Delivery"] for headers, _ in receiver.got}) == 1
    judge(parts, "ada", 9.0)
    receiver.answers = [500] * 20
    while deliverer.deliver():
        make_due(parts.store)
    last = managing.deliveries(ada, webhook.id)[0]
    assert (last.attempts, last.next_at, last.delivered_at) == (len(AGAIN) + 1, None, None)


def test_hosts_are_told_of_a_contest_while_they_are_hosts(parts: Parts, receiver: Receiver) -> None:
    boss, ada = parts.service.on_behalf_of(BOSS), parts.service.on_behalf_of(ADA)
    now = datetime.now(UTC)
    wanted = ContestRequest(
        name="cup", title="Cup", tasks=("softmax",), device=DeviceName.H200,
        starts_at=now, ends_at=now + timedelta(hours=1),
    )  # fmt: skip
    hosting.create(boss, wanted)
    with pytest.raises(Forbidden):
        hook(ada, receiver.url, "cup")
    with pytest.raises(NotFound):
        hook(boss, receiver.url, "nothing")
    webhook = hook(boss, receiver.url, "cup")
    hosting.announce(boss, "cup", "Lunch")
    deliverer = Deliverer(parts.store, Sender(private=True))
    assert deliverer.deliver() == 1
    told = verified(webhook.secret, *receiver.got[0])
    assert (told["event"], told["contest"], told["text"]) == ("contest.announced", "cup", "Lunch")
    assert "webhook" in [act.act for act in hosting.audit(boss, "cup", 0, 9)]
    hosting.announce(boss, "cup", "secret")
    demoted = AccountChange(role=Role.PARTICIPANT)
    operator = Caller("command line", scopes_of(Role.ADMIN))
    administration.change_account(parts.store, operator, "boss", demoted)
    assert deliverer.deliver() == 0
    assert len(receiver.got) == 1


@pytest.mark.parametrize(
    "url",
    [
        "http://example.org/",
        "https://",
        "https://u:p@example.org/",
        "https://example.org/#x",
        "https://[::1",
        "https://example.org:x/",
        "ftp://example.org/",
        "https://127.0.0.1/",
        "https://10.1.2.3/",
        "https://169.254.169.254/latest/meta-data",
        "https://0.0.0.0/",
        "https://[::1]/",
        "https://[fe80::1]/",
        "https://[fd00::1]/",
        "https://[::ffff:127.0.0.1]/",
        "https://224.0.0.1/",
        "https://[::127.0.0.1]/",
        "https://[fec0::1]/",
        "https://[2002:7f00:1::]/",
        "https://[64:ff9b::127.0.0.1]/",
        "https://[64:ff9b:1::1]/",
        f"https://{'a' * 64}.example/",
        "https://a..example/",
        "https://.example/",
        "https://xn--a/",
    ],
)
def test_what_leads_nowhere_public_is_no_webhook(url: str) -> None:
    with pytest.raises(NotAllowed):
        Sender().check(url)


@pytest.mark.parametrize("host", ["localhost", "2130706433", "0x7f000001", "127.1"])
def test_a_name_that_leads_to_this_machine_is_not_sent_to(host: str) -> None:
    """It is looked at when it is sent, since names lead elsewhere at any time."""
    due = webhooks.Due(1, "submission.judged", "{}", 0, f"https://{host}:9/", "secret")
    told = "not sent: its host is not on the public network"
    assert Sender().send([due]) == [(False, told)]


@pytest.mark.parametrize("url", ["https://[2606:4700::1111]/", "https://[64:ff9b::8.8.8.8]/"])
def test_what_is_public_is_sent_to(url: str) -> None:
    Sender().check(url)


@pytest.mark.parametrize(
    ("drop", "seconds"), [(b"HTTP/1.1 100 Continue\r\n\r\n", 0.001), (b"H", 0.2)]
)
def test_who_never_ends_an_answer_holds_nobody_up(
    drop: bytes, seconds: float, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sending, "_WITHIN_SECONDS", 1.0)
    with dripping(drop, seconds) as slow:
        dues = [
            webhooks.Due(n, "x", "{}", 0, url, "") for n, url in enumerate((slow, receiver.url))
        ]
        found = Sender(private=True).send(dues)
    assert found == [(False, "no answer within 1 s"), (True, "HTTP 204")]


@pytest.mark.parametrize("host", ["a" * 64, "a..example", "xn--a"])
def test_a_name_that_is_none_is_told_nothing_and_ends_no_loop(host: str) -> None:
    due = webhooks.Due(1, "submission.judged", "{}", 0, f"https://{host}/", "secret")
    assert Sender(private=True).send([due]) == [(False, "not sent: it is no address")]


def test_what_was_never_tried_goes_before_what_failed(parts: Parts, receiver: Receiver) -> None:
    ada = parts.service.on_behalf_of(ADA)
    hook(ada, receiver.url)
    names = [judge(parts, "ada", score).id for score in (10.0, 9.0)]
    with parts.store.write() as session:
        session.execute(update(DeliveryRow).where(DeliveryRow.id == 1).values(attempts=1))
        (first,) = webhooks.take(session, 1, clock.now())
    assert json.loads(first.body)["submission"]["id"] == names[1]


def test_owners_alone_see_and_delete_and_no_more_than_ten(parts: Parts) -> None:
    ada, boss = parts.service.on_behalf_of(ADA), parts.service.on_behalf_of(BOSS)
    url = "http://127.0.0.1:9/"
    made = [hook(ada, url) for _ in range(managing.MOST)]
    with pytest.raises(Conflict):
        hook(ada, url)
    with pytest.raises(Invalid):
        hook(ada, "ftp://127.0.0.1/")
    for act in (managing.delete, managing.deliveries):
        with pytest.raises(NotFound):
            act(boss, made[0].id)
    judge(parts, "ada", 10.0)
    managing.delete(ada, made[0].id)
    assert [webhook.id for webhook in managing.list_all(ada)] == [w.id for w in made[:0:-1]]
    assert Deliverer(parts.store, Sender(private=True)).deliver() == len(made) - 1
    assert only(ada, made[1]).outcome == "ConnectError"
    assert made[1].secret not in str(managing.list_all(ada))


def test_two_processes_tell_each_thing_once(database_url: str, receiver: Receiver) -> None:
    store = Store(database_url)
    store.migrate()
    people(store)
    with store.write() as session:
        webhooks.insert(session, "ada", None, receiver.url, "secret")
        row = webhooks.of_user(session, "ada")[0]
        for _ in range(30):
            session.add(
                DeliveryRow(
                    webhook=row.id, event="x", body="{}", created_at=clock.now(), attempts=0,
                    next_at=clock.now(), outcome="", delivered_at=None,
                )
            )  # fmt: skip
    with ThreadPoolExecutor(3) as pool:
        deliverers = [Deliverer(store, Sender(private=True)) for _ in range(3)]
        while sum(pool.map(Deliverer.deliver, deliverers)):
            pass
    told = [headers["Kerneljudge-Delivery"] for headers, _ in receiver.got]
    assert sorted(told, key=int) == [str(number) for number in range(1, 31)]
    store.close()
