"""What can go wrong between the client and a service."""

import httpx


class JudgeError(Exception):
    """Base of all; its text says what was wrong and what to do next."""


class Unreachable(JudgeError):
    """The service did not answer, or what answered is no judge."""


class Refused(JudgeError):
    """The service answered with a problem.

    `status` is the HTTP status, `retry_after` the seconds after which to try again, if it said so.
    """

    def __init__(
        self, status: int, detail: str, next_step: str, retry_after: float | None = None
    ) -> None:
        super().__init__(f"{detail}. {next_step}" if next_step else detail)
        self.status = status
        self.detail = detail
        self.next_step = next_step
        self.retry_after = retry_after


class NotFinished(JudgeError):
    """There was no verdict in the time that the caller would wait."""


def refusal(response: httpx.Response) -> Refused:
    """The problem that a response states."""
    after = response.headers.get("Retry-After", "")
    retry_after = float(after) if after.isdecimal() else None
    try:
        problem = response.json()
        detail, step = str(problem["detail"]), str(problem["next_step"])
    except (ValueError, KeyError, TypeError):
        detail = f"{response.request.url.copy_with(query=None)} answered {response.status_code}"
        step = "Is this the address of a judge?"
    return Refused(response.status_code, detail, step, retry_after)
