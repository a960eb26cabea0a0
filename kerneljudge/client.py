"""Speaks to a judge over HTTP."""

import time
import uuid
from collections.abc import Iterator
from types import TracebackType
from typing import Any, Self, TypeVar

import httpx
from pydantic import TypeAdapter, ValidationError

from kerneljudge.errors import JudgeError, NotFinished, Unreachable, refusal
from kerneljudge.following import follow
from kerneljudge.payloads import (
    Board,
    Comparison,
    Health,
    HouseEntry,
    Me,
    StageEntry,
    Submission,
    SubmissionPage,
    Task,
)

DEFAULT_URL = "http://127.0.0.1:8000"
LONGEST_WAIT = 50.0
"""Seconds that one request waits for a verdict; the service allows 60."""
_TRIES = 4
_LONGEST_PAUSE = 30.0
_TRY_AGAIN = (429, 502, 503, 504)
_T = TypeVar("_T")


class Client:
    """A judge at an address; a context manager.

    Requests that may be repeated are, a few times, when the connection breaks or the service is
    busy; submitting is safe to repeat because it carries an idempotency key. Every method raises
    `Unreachable` or `Refused`.
    """

    def __init__(self, url: str = DEFAULT_URL, token: str | None = None) -> None:
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        timeout = httpx.Timeout(LONGEST_WAIT + 15, connect=10)
        base = f"{url.rstrip('/')}/api/v1"
        try:
            self._http = httpx.Client(base_url=base, headers=headers, timeout=timeout)
        except (httpx.InvalidURL, UnicodeError) as error:  # httpx checks headers here as well
            raise JudgeError(f"{url!r} and the token make no request: {error}") from None
        self.url = url.rstrip("/")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Give the connections back."""
        self._http.close()

    def tasks(self) -> tuple[Task, ...]:
        """All tasks by name."""
        return _read(tuple[Task, ...], self._request("GET", "/tasks"))

    def submit(
        self,
        source: str,
        task: str,
        *,
        device: str | None = None,
        entry: str | None = None,
        label: str | None = None,
        contest: str | None = None,
        check_only: bool = False,
        key: str | None = None,
    ) -> Submission:
        """Submit source for a task; returns at once. `label` groups submissions, as a branch.

        With `check_only` the test cases alone run, on the CPU, and nothing is ranked.
        """
        body = {
            "task": task, "source": source, "device": device, "entry": entry, "label": label,
            "contest": contest, "check_only": check_only or None,
        }  # fmt: skip
        given = {name: value for name, value in body.items() if value is not None}
        headers = {"Idempotency-Key": key or uuid.uuid4().hex}
        answer = self._request("POST", "/submissions", json=given, headers=headers)
        return _read(Submission, answer)

    def submission(self, name: str, wait: float = 0) -> Submission:
        """One submission; `wait` up to LONGEST_WAIT seconds for its verdict."""
        params = {"wait": min(wait, LONGEST_WAIT)} if wait else {}
        return _read(Submission, self._request("GET", f"/submissions/{name}", params=params))

    def wait(self, name: str, seconds: float = 3600) -> Submission:
        """A submission once it is finished; NotFinished when the time is up."""
        end = time.monotonic() + seconds
        while True:
            left = max(end - time.monotonic(), 0)
            submission = self.submission(name, left)
            if submission.finished:
                return submission
            if left == 0:
                raise NotFinished(
                    f"submission {name} is still {submission.stage} after {seconds:.0f} s. "
                    f"It goes on: kerneljudge watch {name}"
                )

    def follow(self, name: str) -> Iterator[StageEntry | Submission]:
        """Each stage as it comes, and at last the finished submission."""
        return follow(self._http, name)

    def submissions(self, *, limit: int = 50, **filters: str | None) -> tuple[Submission, ...]:
        """The newest, at most 200, that fit the filters of `GET /api/v1/submissions`."""
        params = {name: value for name, value in filters.items() if value is not None}
        answer = self._request("GET", "/submissions", params=params | {"limit": str(limit)})
        return _read(SubmissionPage, answer).items

    def me(self) -> str:
        """Who the service takes us for."""
        return _read(Me, self._request("GET", "/me")).user

    def devices(self) -> tuple[str, ...]:
        """GPU models that the service has ever measured on, the latest first."""
        return _read(Health, self._request("GET", "/health")).measured_devices

    def compare(self, first: str, second: str) -> Comparison:
        """Two finished submissions for one task."""
        return _read(Comparison, self._request("GET", f"/comparisons/{first}/{second}"))

    def cancel(self, name: str) -> Submission:
        """End a submission that is not finished."""
        return _read(Submission, self._request("POST", f"/submissions/{name}/cancel"))

    def source(self, name: str) -> str:
        """The source as it was submitted."""
        return self._request("GET", f"/submissions/{name}/source").text

    def plan(self, name: str) -> bytes:
        """The packed launch plan, for `kerneljudge plan show`."""
        return self.download(f"/submissions/{name}/plan")

    def download(self, path: str) -> bytes:
        """What a route below /api/v1 gives, as it is."""
        return self._request("GET", path).content

    def board(self, task: str, device: str, limit: int = 100) -> Board:
        """The ranking of a task on a device."""
        params = {"limit": limit}
        return _read(Board, self._request("GET", f"/boards/{task}/{device}", params=params))

    def house_entry(self, board: Board) -> HouseEntry | None:
        """What comes with the project for that version of a task; None if nothing does."""
        wanted = (board.task, board.task_version, board.device)
        entries = _read(tuple[HouseEntry, ...], self._request("GET", "/records"))
        return next((e for e in entries if (e.task, e.task_version, e.device) == wanted), None)

    def raw(self, path: str, **params: Any) -> Any:
        """The JSON of any route below /api/v1."""
        return self._request("GET", path, params=params).json()

    def _request(self, method: str, path: str, **settings: Any) -> httpx.Response:
        for tried in range(1, _TRIES + 1):
            try:
                response = self._http.request(method, path, **settings)
            except httpx.UnsupportedProtocol:
                raise Unreachable(
                    f"{self.url} is no address of a judge: one begins with http:// or https://."
                ) from None
            except httpx.TransportError as error:
                if tried == _TRIES:
                    raise Unreachable(_unreachable(self.url, error)) from None
                time.sleep(2.0 ** (tried - 2))
                continue
            if response.is_success:
                return response
            problem = refusal(response)
            pause = 2.0 ** (tried - 1) if problem.retry_after is None else problem.retry_after
            if response.status_code not in _TRY_AGAIN or tried == _TRIES or pause > _LONGEST_PAUSE:
                raise problem
            time.sleep(pause)
        raise AssertionError("the last try returns or raises")


def _read(kind: type[_T], response: httpx.Response) -> _T:
    try:
        return TypeAdapter(kind).validate_json(response.content)
    except ValidationError:
        address = response.request.url.copy_with(query=None)
        raise Unreachable(f"{address} is not answered by a judge. Check the address.") from None


def _unreachable(url: str, error: httpx.TransportError) -> str:
    return (
        f"{url} does not answer ({error or type(error).__name__}). "
        "Is the service running? The address is taken from --url, KERNELJUDGE_URL or "
        "`kerneljudge login`."
    )
