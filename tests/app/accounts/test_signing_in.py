"""Signing up and in, on both databases, also many at once."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest
from sqlalchemy import update

from app import clock
from app.accounts import Accounts, Caller, Throttle, administration
from app.accounts.schemas import AccountChange, InviteRequest
from app.accounts.throttle import GUESSES, network
from app.errors import Conflict, Forbidden, Invalid, ServiceError, TooManyRequests, Unauthorised
from app.roles import Role, Scope
from app.settings import Settings
from app.store import Store
from app.store.account_tables import SessionRow, UserRow
from tests.app.accounts.house import PASSWORD

ADMIN = Caller("boss", frozenset(Scope))
HERE = "192.0.2.1"


@pytest.fixture
def accounts(store: Store) -> Accounts:
    """Of an open installation."""
    return Accounts(Settings(accounts="open"), store, Throttle(store))


@pytest.fixture
def everywhere(database_url: str) -> Iterator[Accounts]:
    """The same on each kind of database, for what happens at once."""
    store = Store(database_url)
    store.migrate()
    yield Accounts(Settings(accounts="open"), store, Throttle(store))
    store.close()


def in_mode(accounts: Accounts, mode: str) -> Accounts:
    return replace(accounts, settings=Settings.load({"KERNELJUDGE_ACCOUNTS": mode}))


def outcomes(work: Callable[[int], object], times: int) -> list[str]:
    """What each of many calls at once comes to: `ok`, or the name of its error."""

    def one(number: int) -> str:
        try:
            work(number)
        except ServiceError as error:
            return type(error).__name__
        return "ok"

    with ThreadPoolExecutor(times) as pool:
        return sorted(pool.map(one, range(times)))


def test_who_signs_up_is_signed_in_until_they_sign_out(everywhere: Accounts) -> None:
    accounts = everywhere
    signed_in = accounts.sign_up("ada", PASSWORD, "", HERE)
    caller = accounts.of_browser(signed_in.secret)
    assert (caller.user, caller.is_admin) == ("ada", False)
    again = accounts.of_browser(accounts.sign_in("ada", PASSWORD, HERE).secret)
    assert again.form_token != caller.form_token
    accounts.sign_out(caller)
    assert accounts.of_browser(signed_in.secret).user is None
    assert again.user == "ada"


def test_a_session_ends_by_itself(accounts: Accounts) -> None:
    signed_in = accounts.sign_up("ada", PASSWORD, "", HERE)
    with accounts.store.write() as session:
        session.execute(update(SessionRow).values(expires_at=clock.now()))
    assert accounts.of_browser(signed_in.secret).user is None


def test_a_wrong_password_and_a_wrong_name_are_told_the_same(accounts: Accounts) -> None:
    accounts.sign_up("ada", PASSWORD, "", HERE)
    accounts.sign_up("cyd", PASSWORD, "", HERE)
    administration.change_account(accounts.store, ADMIN, "cyd", AccountChange(disabled=True))
    told = set()
    for name, password in (("ada", "x"), ("bob", PASSWORD), ("\0", "x"), ("cyd", PASSWORD)):
        with pytest.raises(Unauthorised) as refused:
            accounts.sign_in(name, password, HERE)
        told.add(refused.value.problem.model_dump_json())
    assert len(told) == 1


def test_guesses_are_counted_before_they_are_tried(everywhere: Accounts) -> None:
    """Many at once get no more tries than one after the other; others are not locked out."""
    accounts = everywhere
    accounts.sign_up("ada", PASSWORD, "", HERE)
    accounts.sign_up("bob", PASSWORD, "", HERE)
    tried = outcomes(lambda _: accounts.sign_in("ada", "wrong guess", HERE), GUESSES.most + 6)
    assert tried == ["TooManyRequests"] * 6 + ["Unauthorised"] * GUESSES.most
    with pytest.raises(TooManyRequests) as refused:
        accounts.sign_in("ada", PASSWORD, HERE)
    assert refused.value.retry_after is not None
    assert 0 < refused.value.retry_after <= 900
    accounts.sign_in("ada", PASSWORD, "198.51.100.7")
    accounts.sign_in("bob", PASSWORD, HERE)


def test_a_right_password_starts_the_count_anew(accounts: Accounts) -> None:
    accounts.sign_up("ada", PASSWORD, "", HERE)
    for _ in range(GUESSES.most - 1):
        accounts.throttle.count((GUESSES, f"ada\0{HERE}"))
    accounts.sign_in("ada", PASSWORD, HERE)
    for _ in range(GUESSES.most - 1):
        accounts.throttle.count((GUESSES, f"ada\0{HERE}"))
    accounts.sign_in("ada", PASSWORD, HERE)


@pytest.mark.parametrize(
    ("address", "source"),
    [
        (HERE, HERE),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
        (None, "unknown"),
        ("testclient", "unknown"),
    ],
)
def test_a_network_is_what_one_subscriber_gets(address: str | None, source: str) -> None:
    assert network(address) == source


@pytest.mark.parametrize("name", ["Ada", "a", "a" * 33, "ada b", "ада", "a\n", "<b>", "local", ""])
def test_names_that_could_be_mistaken_are_refused(accounts: Accounts, name: str) -> None:
    with pytest.raises(Invalid):
        accounts.sign_up(name, PASSWORD, "", HERE)


def test_a_name_is_given_once_also_to_many_at_once(everywhere: Accounts) -> None:
    assert outcomes(lambda _: everywhere.sign_up("ada", PASSWORD, "", HERE), 6) == (
        ["Conflict"] * 5 + ["ok"]
    )


def test_a_closed_house_lets_nobody_sign_up(accounts: Accounts) -> None:
    with pytest.raises(Forbidden):
        in_mode(accounts, "closed").sign_up("ada", PASSWORD, "", HERE)


def test_an_invitation_is_good_for_its_number_of_accounts(everywhere: Accounts) -> None:
    house = in_mode(everywhere, "invite")
    with pytest.raises(Forbidden):
        house.sign_up("ada", PASSWORD, "made up", HERE)
    invite = administration.create_invite(house.store, ADMIN, InviteRequest(uses=2))
    tried = outcomes(lambda n: house.sign_up(f"user{n}", PASSWORD, invite.secret, HERE), 6)
    assert tried == ["Forbidden"] * 4 + ["ok"] * 2
    assert administration.list_invites(house.store, ADMIN, None, 1).items[0].uses_left == 0


def test_a_taken_name_does_not_use_an_invitation_up(accounts: Accounts) -> None:
    house = in_mode(accounts, "invite")
    accounts.sign_up("ada", PASSWORD, "", HERE)
    invite = administration.create_invite(house.store, ADMIN, InviteRequest())
    with pytest.raises(Conflict):
        house.sign_up("ada", PASSWORD, invite.secret, HERE)
    house.sign_up("bob", PASSWORD, invite.secret, HERE)


def test_a_revoked_invitation_is_none(accounts: Accounts) -> None:
    house = in_mode(accounts, "invite")
    invite = administration.create_invite(house.store, ADMIN, InviteRequest(uses=9))
    administration.revoke_invite(house.store, ADMIN, invite.id)
    with pytest.raises(Forbidden):
        house.sign_up("ada", PASSWORD, invite.secret, HERE)


def test_a_new_password_ends_all_other_sessions(accounts: Accounts) -> None:
    old = accounts.sign_up("ada", PASSWORD, "", HERE)
    caller = accounts.of_browser(old.secret)
    with pytest.raises(Unauthorised):
        accounts.change_password(caller, "wrong guess", "another horse entirely", HERE)
    new = accounts.change_password(caller, PASSWORD, "another horse entirely", HERE)
    assert accounts.of_browser(old.secret).user is None
    assert accounts.of_browser(new.secret).user == "ada"
    with pytest.raises(Unauthorised):
        accounts.sign_in("ada", PASSWORD, HERE)


def test_a_disabled_account_is_out_at_once(accounts: Accounts) -> None:
    signed_in = accounts.sign_up("ada", PASSWORD, "", HERE)
    administration.change_account(accounts.store, ADMIN, "ada", AccountChange(disabled=True))
    assert accounts.of_browser(signed_in.secret).user is None


def test_secrets_are_not_in_the_database(accounts: Accounts) -> None:
    signed_in = accounts.sign_up("ada", PASSWORD, "", HERE)
    with accounts.store.read() as session:
        row = session.get(UserRow, "ada")
        assert row is not None
        assert PASSWORD not in row.password
        assert session.get(SessionRow, signed_in.secret) is None


def test_admins_cannot_lock_themselves_out(accounts: Accounts) -> None:
    administration.create_account(accounts.store, "boss", PASSWORD, Role.ADMIN)
    for change in (AccountChange(disabled=True), AccountChange(role=Role.PARTICIPANT)):
        with pytest.raises(Conflict):
            administration.change_account(accounts.store, ADMIN, "boss", change)
    account = administration.change_account(
        accounts.store, ADMIN, "boss", AccountChange(hourly_limit=7)
    )
    assert (account.role, account.hourly_limit) == (Role.ADMIN, 7)
