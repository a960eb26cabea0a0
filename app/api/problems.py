"""How the description of the API shows errors."""

from typing import Any

from app.schemas import Problem

_CONTENT = {"application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}}}


def problems(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """The `responses` of a route that may answer with these statuses."""
    return {status: {"model": Problem, "content": _CONTENT} for status in statuses}
