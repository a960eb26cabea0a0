"""The API, version 1: the service's functions over HTTP."""

from app.api import accounts, routes

ROUTERS = (routes.router, accounts.router)

__all__ = ["ROUTERS"]
