"""The form of a contest: what browsers send, and what it shows. Times are local to its zone."""

from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

from starlette.datastructures import FormData

from app.contests.schemas import ContestDetail, zones
from app.errors import Invalid

_TIMES = ("starts_at", "ends_at", "frozen_at")
_WORDS = ("title", "description", "zone", "hourly_limit", "final_top", "final_rounds")
_FIXED = ("name", "device", "team_size")
LABELS = {
    "team_size": "Most accounts in a team",
    "description": "Description, in Markdown",
    "zone": "Time zone",
    "starts_at": "Starts",
    "ends_at": "Ends",
    "frozen_at": "Boards frozen from",
    "hourly_limit": "Submissions of an entrant within an hour",
    "final_top": "Measured again after the end, of each task",
    "final_rounds": "How often each",
}
"""Of fields that the page does not call by their names."""


def request_fields(form: FormData) -> dict[str, Any]:
    """Fields of a ContestRequest; Invalid."""
    given = sent(form)
    fixed = {name: given.get(name, "") for name in _FIXED}
    chosen = {"tasks": given["tasks"], "invited_only": given.get("invited_only") == "on"}
    return change_fields(form) | fixed | chosen


def change_fields(form: FormData) -> dict[str, Any]:
    """Fields of a ContestChange: all that the form has; Invalid."""
    given = sent(form)
    fields: dict[str, Any] = {name: given.get(name, "") for name in _WORDS}
    fields["description"] = fields["description"].replace("\r\n", "\n")
    fields["hourly_limit"] = fields["hourly_limit"] or None
    fields["open_sources"] = given.get("open_sources") == "on"
    return fields | {name: _moment(name, given) for name in _TIMES}


def sent(form: FormData) -> dict[str, Any]:
    """Everything that was typed, to be shown again."""
    given: dict[str, Any] = {k: v for k, v in form.items() if isinstance(v, str)}
    given["tasks"] = [task for task in form.getlist("tasks") if isinstance(task, str)]
    return given


def draft_of(contest: ContestDetail) -> dict[str, Any]:
    """What the form of a contest shows."""
    found: dict[str, Any] = {name: getattr(contest, name) for name in _WORDS}
    for name in _TIMES:
        moment = getattr(contest, name)
        local = moment and moment.astimezone(ZoneInfo(contest.zone))
        found[name] = f"{local:%Y-%m-%dT%H:%M}" if local else ""
    found["hourly_limit"] = contest.hourly_limit or ""
    found["open_sources"] = "on" if contest.open_sources else ""
    return found


def _moment(name: str, given: dict[str, Any]) -> datetime | None:
    text, zone = given.get(name, ""), given.get("zone", "")
    if not text:
        return None
    if zone not in zones():
        raise Invalid(
            f"“{LABELS['zone']}” is not known", "Give an IANA name such as Europe/Berlin."
        )
    try:
        return datetime.fromisoformat(text).replace(tzinfo=ZoneInfo(zone))
    except ValueError:
        raise Invalid(f"“{LABELS[name]}” is no time", "Write it as 2027-03-01T09:00.") from None
