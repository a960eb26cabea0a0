"""Renders every error in the one shape: problem+json for the API, a page for people."""

import logging
from collections.abc import Mapping
from http import HTTPStatus

from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from sqlalchemy.exc import DBAPIError
from sqlalchemy.exc import TimeoutError as PoolExhausted
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from app.access import SAFE
from app.errors import Invalid, ServiceError, Unauthorised, Unavailable
from app.pages import problem_page, sign_in_page
from app.schemas import Problem

_NEXT_STEPS = {
    404: "Check the address; /api/v1/openapi.json lists those of the API.",
    405: "Use another method; /api/v1/openapi.json lists all.",
}
_log = logging.getLogger(__name__)


def install(app: FastAPI) -> None:
    """Answer every error of an app with a problem."""
    app.add_exception_handler(ServiceError, _service_error)
    app.add_exception_handler(RequestValidationError, _validation_error)
    app.add_exception_handler(HTTPException, _http_error)
    app.add_exception_handler(DBAPIError, _database_error)
    app.add_exception_handler(PoolExhausted, _database_error)
    app.add_exception_handler(Exception, _unforeseen)


def json_problem(problem: Problem, headers: Mapping[str, str] | None = None) -> Response:
    """The error as RFC 9457 wants it."""
    return Response(
        problem.model_dump_json(),
        problem.status,
        dict(headers or {}),
        media_type="application/problem+json",
    )


def _render(
    request: Request, problem: Problem, headers: Mapping[str, str] | None = None
) -> Response:
    if request.url.path.startswith("/api/"):
        return json_problem(problem, headers)
    return problem_page(request, problem, headers)


def _service_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, ServiceError)
    if isinstance(error, Unauthorised):
        return _unauthorised(request, error)
    wait = error.retry_after
    headers = {} if wait is None else {"Retry-After": str(wait)}
    return _render(request, error.problem, headers)


def _unauthorised(request: Request, error: Unauthorised) -> Response:
    if request.method in SAFE and not request.url.path.startswith("/api/"):
        return sign_in_page(request)
    return _render(request, error.problem, {"WWW-Authenticate": "Bearer"})


def _validation_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    first = error.errors()[0]
    where = ".".join(str(part) for part in first["loc"][1:])[:200]
    detail = f"{where}: {str(first['msg'])[:300]}"
    return _render(
        request, Invalid(detail, "Correct that parameter; /api/v1/openapi.json lists all.").problem
    )


def _http_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    problem = Problem(
        title=HTTPStatus(error.status_code).phrase,
        status=error.status_code,
        detail=str(error.detail)[:500],
        next_step=_NEXT_STEPS.get(
            error.status_code, "Correct the request; /api/v1/openapi.json says how."
        ),
    )
    return _render(request, problem, error.headers)


def _database_error(request: Request, error: Exception) -> Response:
    _log.error("the database does not answer: %s", error)
    away = Unavailable("the database does not answer", "Try again in some seconds.", retry_after=5)
    return _service_error(request, away)


def _unforeseen(request: Request, error: Exception) -> Response:
    # Starlette logs the traceback itself, since it raises the error again after this answer.
    problem = ServiceError(
        "the service failed on this request", "Try again; if it stays so, tell the operator."
    ).problem
    return _render(request, problem)
