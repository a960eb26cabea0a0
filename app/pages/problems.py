"""Errors as pages, from the same data as the API's problem+json."""

from collections.abc import Mapping

from sqlalchemy.exc import SQLAlchemyError
from starlette.requests import Request
from starlette.responses import Response

from app.access import page_service, service_of
from app.accounts.callers import NOBODY
from app.pages.rendering import render
from app.schemas import Problem


def problem_page(
    request: Request, problem: Problem, headers: Mapping[str, str] | None = None
) -> Response:
    """The error as a page; blocks on the service's health and on the database."""
    try:
        page_service(request)
    except SQLAlchemyError:
        request.state.service = service_of(request).on_behalf_of(NOBODY)
    return render(request, "problem.html", status=problem.status, headers=headers, problem=problem)
