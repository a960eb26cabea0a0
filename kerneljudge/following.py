"""Reads a submission's stream of events, over broken connections."""

import time
from collections.abc import Iterator

import httpx
from httpx_sse import ServerSentEvent, SSEError, connect_sse
from pydantic import ValidationError

from kerneljudge.errors import Unreachable, refusal
from kerneljudge.payloads import StageEntry, Submission

_MOST_FAILURES = 6
"""In a row, without an event between."""


def follow(http: httpx.Client, submission: str) -> Iterator[StageEntry | Submission]:
    """Each stage, and at last the finished submission; each once, in order.

    Connects again where it left off when the stream breaks. `Unreachable` after several failures
    in a row, `Refused` when the service will not show it.
    """
    last = "0"
    failures = 0
    while True:
        try:
            for event in _events(http, submission, last):
                failures = 0
                item = _item(event)
                yield item
                if isinstance(item, Submission):
                    return
                last = event.id or last
        except httpx.TransportError as error:
            failures += 1
            if failures == _MOST_FAILURES:
                raise Unreachable(
                    f"the connection broke {failures} times: {error}. "
                    f"The submission goes on: kerneljudge watch {submission}"
                ) from None
            time.sleep(min(2.0 ** (failures - 2), 8))


def _events(http: httpx.Client, submission: str, last: str) -> Iterator[ServerSentEvent]:
    headers = {"Last-Event-ID": last}
    with connect_sse(http, "GET", f"/submissions/{submission}/events", headers=headers) as source:
        if not source.response.is_success:
            source.response.read()
            raise refusal(source.response)
        try:
            # While nothing happens the service sends comments; after an id each counts as an event.
            yield from (event for event in source.iter_sse() if event.data)
        except SSEError:
            raise Unreachable("the events are not sent by a judge. Check the address.") from None
    raise httpx.RemoteProtocolError("the service ended the stream before the verdict")


def _item(event: ServerSentEvent) -> StageEntry | Submission:
    try:
        if event.event == "finished":
            return Submission.model_validate_json(event.data)
        return StageEntry.model_validate_json(event.data)
    except ValidationError:
        raise Unreachable("the events are not sent by a judge. Check the address.") from None
