"""`make load`: ten users submit fifty sources at once, and five hundred clients watch them.

Exit status 0 if every submission ends with its verdict and every watcher is told so.
"""

import argparse
import asyncio
import json
import random
import signal
import tempfile
import time
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

import httpx

from app.settings import Settings
from app.store import Store
from tests.app.accounts.house import House
from tests.chaos import sources
from tests.chaos.ledger import Ledger, percentile
from tests.chaos.site import installation_under_load

_ENDS_WITHIN_S = 900
_SETTINGS = {"KERNELJUDGE_ACCOUNTS": "closed", "KERNELJUDGE_PUBLIC_READ": "1"}


@dataclass
class Figures:
    """What was seen, in seconds."""

    answers: list[float] = field(default_factory=list)
    """From a request to its 202."""
    verdicts: list[float] = field(default_factory=list)
    """From the first request to the end of each submission, as its first watcher was told."""
    lags: list[float] = field(default_factory=list)
    """From the first watcher of a submission that was told to each of the others."""
    wrong: list[str] = field(default_factory=list)


async def watch(address: str, token: str, submission: str) -> tuple[float, str]:
    """Follow a submission to its end over a connection of one's own; when, and its verdict."""
    where = urlsplit(address)
    reader, writer = await asyncio.open_connection(where.hostname, where.port, limit=1 << 22)
    writer.write(
        f"GET /api/v1/submissions/{submission}/events HTTP/1.1\r\nHost: {where.netloc}\r\n"
        f"Authorization: Bearer {token}\r\n\r\n".encode()
    )
    try:
        await reader.readuntil(b"event: finished")
        told = time.monotonic()
        line = await reader.readuntil(b"\n\n")
        text = line[line.index(b"{") : line.rindex(b"}") + 1]
        return told, str(json.loads(text)["verdict"])
    finally:
        writer.close()


async def submit(
    client: httpx.AsyncClient, token: str, work: sources.Work, figures: Figures
) -> str:
    """One submission; its id."""
    body = {"task": "double", "source": work.source, "device": work.device.value}
    began = time.monotonic()
    answer = await client.post(
        "/api/v1/submissions", json=body, headers={"Authorization": f"Bearer {token}"}
    )
    figures.answers.append(time.monotonic() - began)
    assert answer.status_code == 202, answer.text
    return str(answer.json()["id"])


async def run(address: str, tokens: Sequence[str], count: int, watchers: int) -> Figures:
    """All at once."""
    figures, chance = Figures(), random.Random(0)
    works = [sources.draw(chance) for _ in range(count)]
    owners = [tokens[number % len(tokens)] for number in range(count)]
    began = time.monotonic()
    async with httpx.AsyncClient(base_url=address, timeout=120) as client:
        mine = zip(owners, works, strict=True)
        names = await asyncio.gather(*(submit(client, t, w, figures) for t, w in mine))
    each = watchers // count
    told = await asyncio.wait_for(
        asyncio.gather(
            *(
                asyncio.gather(*(watch(address, token, name) for _ in range(each)))
                for token, name in zip(owners, names, strict=True)
            )
        ),
        _ENDS_WITHIN_S,
    )
    for work, name, answers in zip(works, names, told, strict=True):
        first = min(when for when, _ in answers)
        figures.verdicts.append(first - began)
        figures.lags += [when - first for when, _ in answers]
        figures.wrong += [
            f"{name}: {verdict}, not {work.expected.value}"
            for verdict in {verdict for _, verdict in answers} - {work.expected.value}
        ]
    return figures


def main() -> int:
    """Parse, run, print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--submissions", type=int, default=50)
    parser.add_argument("--users", type=int, default=10)
    parser.add_argument("--watchers", type=int, default=500)
    arguments = parser.parse_args()
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # so that all is put away
    with (
        tempfile.TemporaryDirectory(prefix="load-", ignore_cleanup_errors=True) as folder,
        installation_under_load(
            Path(folder), Ledger(), random.Random(0), disk=False, clock=False, settings=_SETTINGS
        ) as site,
        ExitStack() as visitors,
    ):
        data = site.stack.data_dir
        store = Store(f"sqlite:///{data / 'kerneljudge.db'}")
        house = House(site.stack.address, store, Settings(data_dir=data), visitors)
        tokens = [house.token(house.account(f"user{n}")) for n in range(arguments.users)]
        counts = arguments.submissions, arguments.watchers
        figures = asyncio.run(run(site.stack.address, tokens, *counts))
        store.close()
    for name, values in vars(figures).items():
        if name != "wrong":
            print(
                f"{name}: {len(values)}, p50 {percentile(values, 0.5):.2f} s, "
                f"p95 {percentile(values, 0.95):.2f} s, most {max(values):.2f} s"
            )
    print("\n".join(figures.wrong) or "every verdict is right, and every watcher was told it")
    return 1 if figures.wrong else 0


if __name__ == "__main__":
    raise SystemExit(main())
