"""Verdicts and stages: the words in which the judge answers."""

from enum import StrEnum


class Stage(StrEnum):
    """Where a submission is."""

    QUEUED = "queued"
    BUILDING = "building"
    MEASURING = "measuring"
    FINISHED = "finished"


class Verdict(StrEnum):
    """The answer to a submission; declared strongest claim first."""

    CANCELLED = "cancelled"
    """Withdrawn before it was judged."""
    JUDGE_ERROR = "judge_error"
    """Our fault; retried, and never held against the submission."""
    REJECTED = "rejected"
    """It breaks a rule: a forbidden operation, device data read by host code, too large."""
    BUILD_ERROR = "build_error"
    """Python or the compiler refused it."""
    TIMEOUT = "timeout"
    """It did not end within the limit."""
    RUNTIME_ERROR = "runtime_error"
    """A kernel failed on the device: illegal address, trap, out of resources."""
    MEMORY_VIOLATION = "memory_violation"
    """A kernel wrote outside its buffers."""
    WRONG_ANSWER = "wrong_answer"
    """Its result is not the reference's."""
    UNSTABLE = "unstable"
    """The same inputs gave different bits, in a task that does not allow it."""
    IMPLAUSIBLE = "implausible"
    """Faster than the hardware can be; held for a person."""
    ACCEPTED = "accepted"
    """Right, and measured."""
    CHECKED = "checked"
    """Built for the target and right on the CPU interpreter; not measured, not ranked."""

    @property
    def precedence(self) -> int:
        """Place in the one order of precedence; the smallest of several verdicts counts."""
        return list(Verdict).index(self)

    @property
    def passed(self) -> bool:
        """Whether the submission did what the task asks."""
        return self in (Verdict.ACCEPTED, Verdict.CHECKED)


def strongest(verdicts: list[Verdict]) -> Verdict:
    """The verdict that counts among those of several cases; ValueError for none."""
    return min(verdicts, key=lambda verdict: verdict.precedence)
