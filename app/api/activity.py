"""The route about what one has done."""

from typing import Annotated

from fastapi import APIRouter, Depends

from app.access import api_service
from app.activity import Activity, activity_of
from app.api.problems import problems
from app.service import Service

router = APIRouter(prefix="/api/v1", responses=problems(401, 403, 422, 503))


@router.get("/me/activity")
def read_activity(service: Annotated[Service, Depends(api_service)]) -> Activity:
    """Your places on boards, and your submissions by day over a year."""
    return activity_of(service)
