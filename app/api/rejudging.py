"""The route that has a source judged again."""

from typing import Annotated

from anyio.to_thread import run_sync
from fastapi import APIRouter, Depends, Query
from starlette.responses import Response

from app.access import api_service
from app.api.naming import Named
from app.api.problems import problems
from app.rejudging import rejudge
from app.schemas import SubmissionDetail
from app.service import Service

router = APIRouter(prefix="/api/v1", responses=problems(401, 403, 404, 422, 503))


@router.post("/submissions/{submission}/rejudge", status_code=202, responses=problems(409, 429))
async def judge_again(
    service: Annotated[Service, Depends(api_service)],
    response: Response,
    submission: Named,
    wait: Annotated[float, Query(ge=0, le=60, description="Seconds to wait for the verdict.")] = 0,
) -> SubmissionDetail:
    """Build and judge a finished submission's source anew, as a new submission of its author."""
    made = await run_sync(rejudge, service, submission)
    response.headers["Location"] = f"/api/v1/submissions/{made.id}"
    return await service.wait(made.id, wait) if wait else made
