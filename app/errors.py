"""Errors that a caller can do something about; one handler renders them as problem+json or HTML."""

from typing import ClassVar

from app.schemas import Problem


class ServiceError(Exception):
    """Base: an error with its HTTP status, what was wrong and what to do next."""

    status: ClassVar[int] = 500
    title: ClassVar[str] = "The service failed"

    def __init__(self, detail: str, next_step: str, *, retry_after: int | None = None) -> None:
        super().__init__(detail)
        self.detail = _printable(detail)
        self.next_step = _printable(next_step)
        self.retry_after = retry_after
        """Seconds after which trying again makes sense."""

    @property
    def problem(self) -> Problem:
        """The error as the API answers it."""
        return Problem(
            title=self.title, status=self.status, detail=self.detail, next_step=self.next_step
        )


class BadRequest(ServiceError):
    """The request cannot be read at all."""

    status = 400
    title = "The request cannot be read"


class WrongOrigin(ServiceError):
    """A browser sent it on behalf of another site."""

    status = 403
    title = "Refused"


class Unauthorised(ServiceError):
    """Nobody, or nobody known, asks."""

    status = 401
    title = "Not signed in"


class Forbidden(ServiceError):
    """Whoever asks may not do this."""

    status = 403
    title = "Not allowed"


class NotFound(ServiceError):
    """There is no such thing."""

    status = 404
    title = "Not found"


class RequestTimeout(ServiceError):
    """The request came too slowly."""

    status = 408
    title = "The request took too long"


class Conflict(ServiceError):
    """The request contradicts an earlier one."""

    status = 409
    title = "Conflict with an earlier request"


class TooLarge(ServiceError):
    """The request is larger than the service takes."""

    status = 413
    title = "Too large"


class UnsupportedMediaType(ServiceError):
    """The body has a type or an encoding that the service does not read."""

    status = 415
    title = "Unsupported media type"


class Misdirected(ServiceError):
    """The request is addressed to another service."""

    status = 421
    title = "Misdirected request"


class Invalid(ServiceError):
    """The request can be read but makes no sense."""

    status = 422
    title = "Invalid request"


class TooManyRequests(ServiceError):
    """A quota is used up, or something was tried too often."""

    status = 429
    title = "Too much for now"


class Unavailable(ServiceError):
    """A part that is needed does not answer, or the queue is full."""

    status = 503
    title = "Not available right now"


def _printable(text: str) -> str:
    """Half a surrogate pair, which JSON can spell, cannot be sent back."""
    return text.encode(errors="replace").decode()
