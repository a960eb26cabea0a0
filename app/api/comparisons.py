"""The route that holds two submissions against each other."""

from typing import Annotated

from fastapi import APIRouter, Depends

from app.access import api_service
from app.api.naming import full_name
from app.api.problems import problems
from app.comparing import Comparison, compare
from app.service import Service

router = APIRouter(prefix="/api/v1", responses=problems(401, 403, 404, 409, 422, 503))


@router.get("/comparisons/{first}/{second}")
def read_comparison(
    service: Annotated[Service, Depends(api_service)], first: str, second: str
) -> Comparison:
    """Two finished submissions for one task: ratios of times, kernels and sources that differ."""
    return compare(service, full_name(service, first), full_name(service, second))
