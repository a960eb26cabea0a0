"""A service with accounts, and the people who use it."""

import re
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace

import httpx

from app.accounts import Caller, administration
from app.accounts.callers import scopes_of
from app.accounts.tokens import TokenRequest, create_token
from app.roles import Role, Scope
from app.settings import Accounts, Settings, Sources
from app.store import Store
from kernels.catalog import Catalog
from tests.app.serving import serving

PASSWORD = "correct horse battery"


@dataclass(frozen=True)
class House:
    """A running service, and its database beside it."""

    address: str
    store: Store
    settings: Settings
    visitors: ExitStack
    """Closes what they opened."""

    def account(self, name: str, role: Role = Role.PARTICIPANT) -> Caller:
        """A new account, with the password that all have."""
        administration.create_account(self.store, name, PASSWORD, role)
        return Caller(name, scopes_of(role))

    def token(self, caller: Caller, *scopes: Scope) -> str:
        """Secret of a new token, by default with all that the account may do."""
        wanted = TokenRequest("test", frozenset(scopes) or caller.scopes, 1)
        return create_token(self.store, caller, wanted)

    def client(self, secret: str | None = None) -> httpx.Client:
        """Somebody with a token, or nobody."""
        headers = {} if secret is None else {"Authorization": f"Bearer {secret}"}
        # Without TLS no certificates are needed, and reading them takes most of a client's time.
        client = httpx.Client(base_url=self.address, headers=headers, timeout=30, verify=False)
        return self.visitors.enter_context(client)

    def person(self, name: str, role: Role = Role.PARTICIPANT) -> httpx.Client:
        """A new account's program."""
        return self.client(self.token(self.account(name, role)))

    def browser(self, name: str | None = None) -> httpx.Client:
        """A browser, in which somebody may be signed in."""
        browser = self.client()
        if name is not None:
            answer = send(browser, "/sign-in", name=name, password=PASSWORD)
            assert answer.status_code == 303, answer.text
        return browser


def form_token(browser: httpx.Client, path: str) -> str:
    """What the forms of a page send along."""
    found = re.search(r'name="csrf" value="([0-9a-f]+)"', browser.get(path).text)
    assert found, f"{path} has no form"
    return found[1]


def send(
    browser: httpx.Client, path: str, *, page: str | None = None, **fields: str
) -> httpx.Response:
    """Fill in the form on a page, by default that at the same path, and send it."""
    return browser.post(path, data={"csrf": form_token(browser, page or path), **fields})


@contextmanager
def opened(
    settings: Settings, catalog: Catalog, mode: Accounts = "open", sources: Sources = "own"
) -> Iterator[House]:
    """A house that lives as long as the block."""
    settings = replace(settings, accounts=mode, sources=sources)
    with serving(settings, catalog) as address, ExitStack() as visitors:
        store = Store(settings.database_address)
        visitors.callback(store.close)
        yield House(address, store, settings, visitors)
