"""The library: what it repeats, where it goes on, and what it makes of strangers."""

import http.server
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import ClassVar

import pytest

from kerneljudge import Client, NotFinished, Refused, Unreachable
from kerneljudge.payloads import StageEntry, Submission
from tests.client.conftest import Run
from tests.client.judge import Judge
from tests.pages.samples import SOURCE
from tests.pages.site import Site


@contextmanager
def answering(*answers: bytes) -> Iterator[str]:
    """Address of a server that gives those answers in turn, and the last one for ever."""
    left = list(answers)

    class Handler(http.server.BaseHTTPRequestHandler):
        timeout: ClassVar[int] = 5

        def _answer(self) -> None:
            self.rfile.read(int(self.headers.get("Content-Length", 0)))
            self.wfile.write(left.pop(0) if len(left) > 1 else left[0])
            self.close_connection = True

        do_GET = do_POST = _answer

        def log_message(self, *_: object) -> None:
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_address[1]}"
        server.shutdown()
        thread.join()


def response(status: str, body: str, kind: str = "application/json", headers: str = "") -> bytes:
    length = len(body.encode())
    head = f"HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {length}\r\n{headers}\r\n"
    return (head + body).encode()


BUSY = response(
    "503 Busy", '{"detail": "the queue is full", "next_step": "Try again."}',
    headers="Retry-After: 0\r\n",
)  # fmt: skip


def test_a_submission_is_followed_to_its_verdict(site: Site, judge: Judge) -> None:
    with Client(site.address) as client:
        submission = client.submit(SOURCE, "softmax", label="a label")
        *stages, last = client.follow(submission.id)
        assert all(isinstance(stage, StageEntry) for stage in stages)
        assert [s.stage for s in stages if isinstance(s, StageEntry)][:2] == ["queued", "building"]
        assert isinstance(last, Submission)
        assert last.verdict == "accepted"
        assert client.wait(submission.id) == client.submission(submission.id)
        assert client.source(submission.id) == SOURCE
        assert client.submissions(label="a label")[0].id == submission.id


def test_a_contest_is_passed_on(site: Site) -> None:
    with Client(site.address) as client, pytest.raises(Refused, match="no contest 'cup'"):
        client.submit(SOURCE, "softmax", contest="cup")


def test_waiting_has_an_end(site: Site) -> None:
    with Client(site.address) as client:
        submission = client.submit(SOURCE, "softmax")
        with pytest.raises(NotFinished, match="is still queued"):
            client.wait(submission.id, 0.05)
        client.cancel(submission.id)


def test_one_key_submits_once(site: Site) -> None:
    with Client(site.address) as client:
        first = client.submit(SOURCE, "softmax", key="k")
        assert client.submit(SOURCE, "softmax", key="k").id == first.id
        with pytest.raises(Refused):  # other content: the test cases only
            client.submit(SOURCE, "softmax", key="k", check_only=True)
        client.cancel(first.id)


def test_a_busy_service_is_asked_again() -> None:
    with answering(BUSY, BUSY, response("200 OK", "[]")) as url, Client(url) as client:
        assert client.tasks() == ()


def test_a_service_that_stays_busy_is_given_up() -> None:
    with answering(BUSY) as url, Client(url) as client:
        with pytest.raises(Refused, match="the queue is full") as caught:
            client.tasks()
        assert caught.value.status == 503


def test_who_is_to_come_back_in_an_hour_is_told_at_once() -> None:
    later = response("429 Too Many Requests", "{}", headers="Retry-After: 3600\r\n")
    with answering(later, response("200 OK", "[]")) as url, Client(url) as client:
        with pytest.raises(Refused) as caught:
            client.tasks()
        assert caught.value.retry_after == 3600


def test_who_has_no_token_learns_how_to_give_one(run: Run) -> None:
    problem = '{"detail": "this needs an account", "next_step": "Sign in."}'
    with answering(response("401 Unauthorized", problem)) as url:
        result = run("tasks", "list", "--url", url)
    assert result.exit_code == 2
    assert "this needs an account. Run `kerneljudge login`" in result.output


def test_an_address_without_its_protocol_is_refused() -> None:
    with Client("localhost:8000") as client, pytest.raises(Unreachable, match="http://"):
        client.tasks()


@pytest.mark.parametrize(
    "answer",
    [response("200 OK", "<html>", "text/html"), response("200 OK", '{"a": 1}'), b"not HTTP\r\n"],
)
def test_what_is_no_judge_is_said_to_be_none(answer: bytes) -> None:
    with answering(answer) as url, Client(url) as client, pytest.raises(Unreachable):
        client.tasks()


FINISHED = (
    'event: finished\ndata: {"id": "s", "user": "u", "task": "t", "task_version": 1, '
    '"device": "H200", "measured": true, "stage": "finished", "verdict": "accepted"}\n\n'
)


def streamed(*stages: int, then: str = "") -> bytes:
    """An answer of events: those stages, then what else is given."""
    stage = '{"id": %d, "stage": "building", "at": "2026-01-01T00:00:00Z"}'
    events = [f"event: stage\ndata: {stage % number}\nid: {number}\n\n" for number in stages]
    return response("200 OK", "".join(events) + then, "text/event-stream")


def test_a_stream_that_breaks_is_taken_up_where_it_ended() -> None:
    with answering(streamed(1), streamed(2, then=FINISHED)) as url, Client(url) as client:
        found = list(client.follow("s"))
    assert [item.id for item in found] == [1, 2, "s"]


def test_a_stream_may_be_kept_alive_by_comments() -> None:
    kept = streamed(1, then=": ping\n\n: ping\n\n" + FINISHED)
    with answering(kept) as url, Client(url) as client:
        assert [item.id for item in client.follow("s")] == [1, "s"]


def test_words_of_others_command_no_terminal() -> None:
    task = '[{"name": "a\\u001b[31m", "title": "", "version": 1, "summary": "", "difficulty": ""}]'
    with answering(response("200 OK", task)) as url, Client(url) as client:
        assert client.tasks()[0].name == "a\N{REPLACEMENT CHARACTER}[31m"


def test_the_client_loads_nothing_heavy() -> None:
    import subprocess
    import sys

    script = "import kerneljudge.__main__, sys; print(*sys.modules)"
    root = Path(__file__).parents[2]
    loaded = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, check=True, text=True, cwd=root
    ).stdout.split()
    assert not {"torch", "triton", "numpy", "fastapi", "sqlalchemy", "redis", "rq"} & set(loaded)
