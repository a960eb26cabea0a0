"""The service on a free port of the loopback, in this process."""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

import uvicorn

from app.__main__ import GracefulServer
from app.header_deadline import HeaderDeadline
from app.main import create_app
from app.settings import Settings
from kernels.catalog import Catalog


@contextmanager
def serving(settings: Settings, catalog: Catalog) -> Iterator[str]:
    """Its address; on leaving it is shut down as SIGTERM does it."""
    app = create_app(settings, catalog)
    config = uvicorn.Config(app, port=0, log_level="warning", http=HeaderDeadline)
    with answering(GracefulServer(config)) as address:
        yield address


@contextmanager
def answering(server: uvicorn.Server) -> Iterator[str]:
    """The address of a server that answers as long as the block lasts."""
    thread = threading.Thread(target=server.run)
    thread.start()
    try:
        while not server.started:
            assert thread.is_alive(), "the server did not start"
            time.sleep(0.01)
        port = server.servers[0].sockets[0].getsockname()[1]
        yield f"http://127.0.0.1:{port}"
    finally:
        server.should_exit = True
        thread.join()
