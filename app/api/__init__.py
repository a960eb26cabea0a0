"""The API, version 1: the service's functions over HTTP."""

from app.api import accounts, probes, reruns, routes

ROUTERS = (routes.router, reruns.router, accounts.router, probes.router)

__all__ = ["ROUTERS"]
