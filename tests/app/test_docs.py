"""The manual names every route and error status."""

from collections.abc import Iterator
from typing import Any

from fastapi import FastAPI
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


def test_every_payload_has_a_model() -> None:
    """Nothing in the description of the API is of any type."""
    app = FastAPI()
    for router in ROUTERS:
        app.include_router(router)
    described = app.openapi()
    for path, methods in described["paths"].items():
        for method, operation in methods.items():
            for status, answer in operation["responses"].items():
                schemas = [kind["schema"] for kind in answer.get("content", {}).values()]
                assert all(schemas), (method, path, status)
                assert schemas or status in ("204", "304"), (method, path, status)
    assert list(_untyped(described, "")) == []


def _untyped(schema: Any, path: str) -> Iterator[str]:
    """Where it says nothing of a value, or of what an object holds."""
    if isinstance(schema, list):
        for part in schema:
            yield from _untyped(part, path)
    if not isinstance(schema, dict):
        return
    if (
        schema.get("type") == "object"
        and not {"properties", "additionalProperties"} & schema.keys()
    ):
        yield path
    for name, part in schema.items():
        if part == {} and name not in ("default", "parameters"):
            yield f"{path}/{name}"
        elif name != "default":
            yield from _untyped(part, f"{path}/{name}")
