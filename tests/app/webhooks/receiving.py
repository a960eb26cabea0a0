"""A program that is told of events, on the loopback."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from socketserver import BaseRequestHandler, ThreadingTCPServer


@dataclass
class Receiver:
    """What it was told, and what it answers."""

    url: str = ""
    answers: list[int] = field(default_factory=list)
    """Statuses, one for each request; 204 when none is left."""
    got: list[tuple[dict[str, str], bytes]] = field(default_factory=list)
    """Headers and body of each request."""


@contextmanager
def receiving() -> Iterator[Receiver]:
    """As long as the block lasts."""
    receiver = Receiver()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            receiver.got.append((dict(self.headers), body))
            self.send_response(receiver.answers.pop(0) if receiver.answers else 204)
            self.send_header("Location", "/elsewhere")
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_: object) -> None:
            """It is quiet."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    receiver.url = f"http://127.0.0.1:{server.server_port}/hook?a=b"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    try:
        yield receiver
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@contextmanager
def dripping(drop: bytes, seconds: float) -> Iterator[str]:
    """The address of something that sends the same again and again and never ends an answer, as
    long as the block lasts."""
    over = threading.Event()

    class Handler(BaseRequestHandler):
        def handle(self) -> None:
            with suppress(OSError):
                while not over.wait(seconds):
                    self.request.sendall(drop)

    server = ThreadingTCPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}/"
    finally:
        over.set()
        server.shutdown()
        thread.join()
        server.server_close()
