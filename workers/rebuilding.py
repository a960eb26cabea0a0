"""Provenance: a clean process compiles a plan's kernels again, and the cubins must be the same."""

import math
from dataclasses import dataclass
from typing import Literal

from kernels.contract import Bundle, Kernel, Task, limits
from kernels.contract._model import Model, Sha256, ShortText
from kernels.contract.wire import (
    AnswerRefused,
    Failure,
    RebuildAnswer,
    RebuildKernel,
    RebuildRequest,
    Rebuilt,
)
from workers.answers import failure_of
from workers.jail import JailClient, Limits

_DOING = "rebuilding"
_SLOWER = 2
"""Rebuilding may use this many times as much as building: it must never be the tighter limit."""
_GRACE_S = 5
_IR: tuple[Literal["ttir", "ttgir"], ...] = ("ttir", "ttgir")


class Provenance(Model):
    """Whether a plan's cubins come from Triton, and what else the clean process saw in them."""

    outcome: Literal["identical", "different", "not rebuilt"]
    reason: ShortText = ""
    """One sentence unless identical."""
    kernels: dict[Sha256, Rebuilt] = {}
    """Kernels that were rebuilt identically."""

    @property
    def failure(self) -> Failure | None:
        """Why the plan may not pass, if so."""
        if self.outcome == "identical":
            return None
        return Failure(verdict="rejected", reason=self.reason)


@dataclass(frozen=True)
class Review:
    """Provenance of a plan, and its disassembly."""

    provenance: Provenance
    sass: dict[str, bytes]
    """Compressed listings by digest of the cubin."""


def rebuild(bundle: Bundle, task: Task, jail: JailClient) -> Review:
    """Compile every kernel of a plan again; JudgeFault or JailUnavailable if we fail."""
    kernels = {sha: k for sha, k in bundle.plan.kernels.items() if _ir(k) is not None}
    seconds = math.ceil(task.limits.build_wall)
    bounds = Limits(
        wall_s=seconds + _GRACE_S,
        cpu_s=_SLOWER * math.ceil(task.limits.build) + _GRACE_S,
        memory_bytes=8 * limits.GIB,
        processes=128,
        scratch_bytes=limits.GIB,
        result_bytes=limits.BUNDLE_BYTES,
    )
    texts = tuple(bundle.blobs[k.texts[_ir(k) or "ttir"]] for k in kernels.values())
    asked = tuple(RebuildKernel(kind=_ir(k) or "ttir", options=k.options) for k in kernels.values())
    outcome = jail.run(RebuildRequest(kernels=asked, seconds=seconds).pack(texts), bounds)
    failure = failure_of(outcome, bounds, _DOING)
    if failure is not None:
        return Review(Provenance(outcome="not rebuilt", reason=failure.reason), {})
    try:
        answer, blobs = RebuildAnswer.unpack(outcome.result)
        return _review(bundle, list(kernels), answer, blobs)
    except AnswerRefused as error:
        # Hostile IR may have broken the compiler: whatever it says then, the plan does not pass.
        return Review(Provenance(outcome="not rebuilt", reason=f"{_DOING}: {error}"[:500]), {})


def _ir(kernel: Kernel) -> Literal["ttir", "ttgir"] | None:
    return next((kind for kind in _IR if kind in kernel.texts), None)


def _review(bundle: Bundle, asked: list[str], answer: RebuildAnswer, blobs: list[bytes]) -> Review:
    listed = [kernel for kernel in answer.kernels if kernel is not None and kernel.mix is not None]
    if len(answer.kernels) != len(asked) or len(listed) != len(blobs):
        raise AnswerRefused("it does not answer for the kernels one by one")
    if any(len(blob) > limits.TEXT_BYTES for blob in blobs):
        raise AnswerRefused("a listing is too long")
    listings = dict(zip((kernel.cubin for kernel in listed), blobs, strict=True))
    found = dict(zip(asked, answer.kernels, strict=True))
    same = {sha: k for sha, k in found.items() if k is not None and k.cubin == sha}
    return Review(
        _provenance(bundle, found, same), {sha: listings[sha] for sha in same if sha in listings}
    )


def _provenance(
    bundle: Bundle, found: dict[str, Rebuilt | None], same: dict[str, Rebuilt]
) -> Provenance:
    for sha, kernel in bundle.plan.kernels.items():
        if sha in same:
            continue
        if found.get(sha) is not None:
            reason = (
                f"the machine code of {kernel.function} is not what Triton makes of it: "
                "compile kernels with Triton's own passes, options and settings"
            )
            return Provenance(outcome="different", reason=reason, kernels=same)
        reason = f"{kernel.function} could not be compiled again from its intermediate code"
        return Provenance(outcome="not rebuilt", reason=reason, kernels=same)
    return Provenance(outcome="identical", kernels=same)
