"""What pages say of each verdict; docs/verdicts.md says it at length."""

from dataclasses import dataclass

from kernels.contract import Verdict


@dataclass(frozen=True)
class Wording:
    """The words for one verdict."""

    label: str
    """As a heading."""
    meaning: str
    """One sentence, for a report that gives no reason of its own."""
    next_step: str
    """What to do, in one sentence."""


WORDINGS: dict[Verdict, Wording] = {
    Verdict.CANCELLED: Wording(
        "Cancelled",
        "The submission was withdrawn before it was judged.",
        "Submit it again if it is to be judged after all.",
    ),
    Verdict.JUDGE_ERROR: Wording(
        "Judge error",
        "The judge failed; this is not the submission's fault and does not count.",
        "Submit again; if it comes back, tell the operator this submission's number.",
    ),
    Verdict.REJECTED: Wording(
        "Rejected",
        "The submission breaks a rule of the task.",
        "Change the line that is named below: host code may only move data and launch kernels.",
    ),
    Verdict.BUILD_ERROR: Wording(
        "Build error",
        "Python or the Triton compiler refused the submission.",
        "Start with the first message below.",
    ),
    Verdict.TIMEOUT: Wording(
        "Timeout",
        "The submission did not end within the limit.",
        "Look for a loop that does not move on, or try fewer autotune configurations.",
    ),
    Verdict.RUNTIME_ERROR: Wording(
        "Runtime error",
        "A kernel failed on the device, or host code ended early.",
        "Check the masks of loads and stores at ragged edges, and offsets beyond 2³¹ elements.",
    ),
    Verdict.MEMORY_VIOLATION: Wording(
        "Memory violation",
        "A kernel wrote outside its buffers.",
        "Give every store at a ragged edge a mask, and leave the inputs as they are.",
    ),
    Verdict.WRONG_ANSWER: Wording(
        "Wrong answer",
        "The result is not the reference's.",
        "See below where the elements that differ lie: edges point at masks, tiles at the grid, "
        "small errors everywhere at precision.",
    ),
    Verdict.UNSTABLE: Wording(
        "Unstable",
        "The same inputs gave different bits.",
        "Look for a race: two programs storing to one place, or atomics whose order matters.",
    ),
    Verdict.IMPLAUSIBLE: Wording(
        "Implausible",
        "It is faster than the hardware can be, and held until a person has looked at it.",
        "Check that every launch does all of the work; if it does, there is nothing to do.",
    ),
    Verdict.ACCEPTED: Wording(
        "Accepted",
        "All cases agree with the reference; the time counts on the board.",
        "The case with the lowest share of the roofline has the most to gain.",
    ),
    Verdict.CHECKED: Wording(
        "Checked",
        "Built for the GPU and right on the CPU interpreter; not measured and not ranked.",
        "Read the caveats, and submit it where a GPU serves to have it measured.",
    ),
}
"""Every verdict, strongest first."""
