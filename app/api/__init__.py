"""The API, version 1: the service's functions over HTTP."""

from app.api import accounts, comparisons, probes, reruns, routes

ROUTERS = (routes.router, reruns.router, comparisons.router, accounts.router, probes.router)

__all__ = ["ROUTERS"]
