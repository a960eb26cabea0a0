"""The API, version 1: the service's functions over HTTP."""

from app.api import (
    accounts,
    activity,
    comparisons,
    contests,
    downloads,
    operations,
    probes,
    rejudging,
    reruns,
    routes,
    webhooks,
)

ROUTERS = (
    routes.router,
    reruns.router,
    rejudging.router,
    comparisons.router,
    downloads.router,
    accounts.router,
    contests.router,
    webhooks.router,
    operations.router,
    activity.router,
    probes.router,
)

__all__ = ["ROUTERS"]
