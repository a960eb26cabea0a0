"""The API, version 1: the service's functions over HTTP."""

from app.api import accounts, probes, routes

ROUTERS = (routes.router, accounts.router, probes.router)

__all__ = ["ROUTERS"]
