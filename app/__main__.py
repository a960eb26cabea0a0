"""Serves until SIGTERM or Ctrl-C: `python -m app`; with a command, does that and ends."""

import logging
import socket
import sys

import uvicorn
from fastapi import FastAPI

from app import commands
from app.header_deadline import HeaderDeadline
from app.main import create_app
from app.settings import Settings, SettingsError
from kernels import logs
from kernels.catalog import CatalogError

_GRACE_SECONDS = 5


class GracefulServer(uvicorn.Server):
    """Lets those who wait for a submission go before it waits for them."""

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Stop serving."""
        app = self.config.app
        if isinstance(app, FastAPI):
            app.state.service.updates.close()
        await super().shutdown(sockets)


def main() -> None:
    """Read the settings and serve, or run a command; exit status 1 if a setting is wrong."""
    arguments = commands.parser().parse_args()
    logging.getLogger("alembic").setLevel(logging.WARNING)
    try:
        settings = Settings.load()
        logs.configure(settings.log)
        if arguments.command is not None:
            sys.exit(commands.run(arguments, settings))
        app = create_app(settings)
    except (SettingsError, CatalogError) as error:
        sys.exit(f"kerneljudge: {error}")
    config = uvicorn.Config(
        app,
        host=settings.host,
        port=settings.port,
        access_log=False,
        server_header=False,
        http=HeaderDeadline,
        timeout_graceful_shutdown=_GRACE_SECONDS,
    )
    GracefulServer(config).run()


if __name__ == "__main__":
    main()
