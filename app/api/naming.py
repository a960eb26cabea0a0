"""Submissions by the first characters of their names."""

import re
from typing import Annotated

from fastapi import Depends

from app import visibility
from app.access import api_service
from app.errors import Conflict
from app.service import Service
from app.store import submissions

_SHORT = re.compile(r"[0-9a-f]{4,15}")
_MOST_ALIKE = 5


def full_name(service: Annotated[Service, Depends(api_service)], submission: str) -> str:
    """The one submission whose name begins so, or the same where none does; Conflict."""
    if not _SHORT.fullmatch(submission):
        return submission
    with service.store.read() as session:
        if submissions.by_id(session, submission) is not None:
            return submission
        found = submissions.beginning(session, submission, _MOST_ALIKE)
        names = [row.id for row in found if visibility.sees(session, service.caller, row)]
    if len(names) > 1:
        raise Conflict(
            f"several submissions begin with {submission!r}", f"Choose one: {', '.join(names)}."
        )
    return names[0] if names else submission


Named = Annotated[str, Depends(full_name)]
"""The `submission` of a path: its name, or enough of the beginning to be the only one, at least
four characters."""
