"""Requests made from our own OpenAPI description, right and wrong: never a 5xx, always a shape."""

from collections.abc import Iterator
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from kernels.catalog import Catalog
from tests.app.conftest import temporary_settings
from tests.app.serving import serving
from tests.hostile.rows import ALL

_EXAMPLES = 400 if ALL else 20
_LONGEST_WAIT_S = 0.2
CHECKS = [
    not_a_server_error,
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
]
OPERATIONS = (
    "GET /api/v1/tasks",
    "GET /api/v1/tasks/{name}",
    "POST /api/v1/submissions",
    "GET /api/v1/submissions",
    "GET /api/v1/submissions/{submission}",
    "GET /api/v1/submissions/{submission}/source",
    "GET /api/v1/submissions/{submission}/plan",
    "GET /api/v1/submissions/{submission}/events",
    "GET /api/v1/boards/{task}/{device}",
    "GET /api/v1/health",
)
REFUSING = (
    "POST /api/v1/submissions",
    "GET /api/v1/submissions",
    "GET /api/v1/submissions/{submission}",
    "GET /api/v1/submissions/{submission}/events",
    "GET /api/v1/boards/{task}/{device}",
)
"""Operations with parameters that can be wrong by their description."""


@pytest.fixture(scope="module")
def operations() -> Iterator[dict[str, Any]]:
    """What a service of its own says that it can be asked, by method and path."""
    with temporary_settings() as mine, serving(mine, Catalog()) as address:
        schema = schemathesis.openapi.from_url(f"{address}/api/v1/openapi.json")
        results: list[Any] = list(schema.get_all_operations())
        found = [result.ok() for result in results]
        yield {operation.label: operation for operation in found}


def test_no_operation_is_left_out(operations: dict[str, Any]) -> None:
    assert sorted(operations) == sorted(OPERATIONS)


@pytest.mark.parametrize("name", OPERATIONS)
def test_no_right_request_breaks_the_service(operations: dict[str, Any], name: str) -> None:
    ask_often(operations[name], schemathesis.GenerationMode.POSITIVE)


@pytest.mark.parametrize("name", REFUSING)
def test_no_wrong_request_breaks_the_service(operations: dict[str, Any], name: str) -> None:
    ask_often(operations[name], schemathesis.GenerationMode.NEGATIVE)


def ask_often(operation: Any, mode: schemathesis.GenerationMode) -> None:
    """Make requests that keep, or break, what is said of an operation."""

    @settings(
        max_examples=_EXAMPLES,
        deadline=None,
        derandomize=True,
        suppress_health_check=list(HealthCheck),
    )
    @given(operation.as_strategy(generation_mode=mode))
    def each(case: Any) -> None:
        ask(case)

    each()


def ask(case: Any) -> None:
    """Make a request and look at its answer."""
    wait = (case.query or {}).get("wait")
    if isinstance(wait, int | float) and wait > _LONGEST_WAIT_S:
        case.query["wait"] = _LONGEST_WAIT_S
    case.call_and_validate(checks=CHECKS)
