"""The API, version 1: the service's functions over HTTP."""

from app.api import accounts, comparisons, contests, downloads, probes, reruns, routes

ROUTERS = (
    routes.router,
    reruns.router,
    comparisons.router,
    downloads.router,
    accounts.router,
    contests.router,
    probes.router,
)

__all__ = ["ROUTERS"]
