"""Clients that keep a few submissions in flight, and do not give up when nobody answers."""

import itertools
import json
import random
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from tests.chaos import sources
from tests.chaos.ledger import Entry, Ledger

_RETRY_S = 0.2
_POLL_S = 5
_ANSWER_S = 40


class Clients:
    """So many threads, each with one submission after the other."""

    def __init__(self, address: str, ledger: Ledger, count: int, seed: int) -> None:
        self._address = address
        self._ledger = ledger
        self._count = count
        self._seed = seed
        self._numbers = itertools.count()
        self._stop = threading.Event()
        self._allowed = 0

    @contextmanager
    def running(self, threads: int) -> Iterator[None]:
        """Work until all submissions are judged; at an error at once."""
        workers = [threading.Thread(target=self._work) for _ in range(threads)]
        for worker in workers:
            worker.start()
        try:
            yield
        except BaseException:
            self._stop.set()
            raise
        finally:
            for worker in workers:
                worker.join()

    def allow(self, submissions: int) -> None:
        """Begin so many submissions, those begun before included."""
        self._allowed = submissions

    def _work(self) -> None:
        while not self._stop.is_set():
            number = next(self._numbers)
            if number >= self._count:
                return
            while number >= self._allowed and not self._stop.wait(0.02):
                pass
            self._judge(sources.draw(random.Random(f"{self._seed} {number}")), number)

    def _judge(self, work: sources.Work, number: int) -> None:
        body = {"task": "double", "source": work.source, "device": work.device.value}
        key = f"chaos-{self._seed}-{number}"
        answer = self._insist("/api/v1/submissions", body, key)
        if answer is None:
            return
        entry = self._ledger.accept(answer["id"], work)
        self._follow(entry)

    def _follow(self, entry: Entry) -> None:
        while not self._stop.is_set():
            detail = self._insist(f"/api/v1/submissions/{entry.name}?wait={_POLL_S}")
            if detail is not None and detail["stage"] == "finished":
                self._ledger.finish(entry, detail)
                return

    def _insist(
        self, path: str, body: dict[str, str] | None = None, key: str | None = None
    ) -> dict[str, Any] | None:
        """An answer, however often it takes; None only when told to stop."""
        while not self._stop.is_set():
            answer = ask(self._address + path, body, key)
            if answer is not None:
                return answer
            time.sleep(_RETRY_S)
        return None


def ask(
    address: str, body: dict[str, str] | None = None, key: str | None = None
) -> dict[str, Any] | None:
    """A JSON answer; None if there is none, or the service asks to come again later."""
    headers = {"Content-Type": "application/json"} | ({"Idempotency-Key": key} if key else {})
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(address, data=data, headers=headers)
    try:
        with urllib.request.urlopen(request, timeout=_ANSWER_S) as answer:
            found: dict[str, Any] = json.load(answer)
            return found
    except urllib.error.HTTPError as error:
        if error.code in (429, 503):
            return None
        raise AssertionError(f"{address}: {error.code} {error.read()[:500]!r}") from None
    except (OSError, ValueError):  # refused, reset, cut short
        return None
