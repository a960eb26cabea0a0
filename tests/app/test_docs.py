"""The manual names every route and error status."""

from fastapi.routing import APIRoute

from app import errors
from app.api import ROUTERS
from app.errors import ServiceError
from app.settings import ROOT

MANUAL = (ROOT / "docs" / "api.md").read_text(encoding="utf-8")


def test_every_route_is_described() -> None:
    for route in (route for router in ROUTERS for route in router.routes):
        assert isinstance(route, APIRoute)
        if not route.include_in_schema:
            continue
        for method in route.methods or ():
            assert f"| `{method} {route.path}` |" in MANUAL


def test_every_error_is_described() -> None:
    kinds = [kind for kind in vars(errors).values() if isinstance(kind, type)]
    statuses = {k.status for k in kinds if issubclass(k, ServiceError) and k is not ServiceError}
    for status in statuses:
        assert f"| {status} |" in MANUAL
