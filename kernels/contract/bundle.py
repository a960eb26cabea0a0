"""A plan with its blobs as one value: how plans travel from the jail to the measurer."""

import hashlib
from collections.abc import Mapping
from typing import Self

from pydantic import ValidationError

from kernels.contract import frame, limits
from kernels.contract._model import Model, Sha256
from kernels.contract.plan import Plan, TextKind


class PlanRefused(ValueError):
    """A bundle is not a valid plan; the message says what is wrong with it."""


class _Header(Model):
    plan: Plan
    blobs: tuple[Sha256, ...]


class Bundle(Model):
    """A plan and every blob it names."""

    plan: Plan
    blobs: dict[Sha256, bytes]

    def pack(self) -> bytes:
        """The frame that `unpack` reads; equal plans give equal bytes."""
        order = tuple(sorted(self.blobs))
        header = _Header(plan=self.plan, blobs=order)
        return frame.pack(header.model_dump_json(), [self.blobs[sha] for sha in order])

    def with_texts(self, kind: TextKind, texts: Mapping[str, bytes]) -> Self:
        """This bundle with one more compressed text for some kernels, by digest of the cubin."""
        kernels, blobs = dict(self.plan.kernels), dict(self.blobs)
        for sha, text in texts.items():
            digest = hashlib.sha256(text).hexdigest()
            blobs[digest] = text
            named = {**kernels[sha].texts, kind: digest}
            kernels[sha] = kernels[sha].model_copy(update={"texts": named})
        plan = self.plan.model_copy(update={"kernels": kernels})
        return type(self)(plan=plan, blobs={sha: blobs[sha] for sha in plan.blobs()})

    @classmethod
    def unpack(cls, data: bytes) -> Self:
        """Read hostile bytes; PlanRefused for anything but a complete, consistent plan."""
        if len(data) > limits.BUNDLE_BYTES:
            raise PlanRefused(f"the plan has more than {limits.BUNDLE_BYTES} bytes")
        try:
            text, contents = frame.unpack(data)
            header = _Header.model_validate_json(text)
        except frame.FrameRefused as error:
            raise PlanRefused(str(error)) from None
        except ValidationError as error:
            raise PlanRefused(first_problem(error)) from None
        blobs = _named(header.blobs, contents)
        missing = header.plan.blobs() - set(blobs)
        if missing:
            raise PlanRefused(f"the plan lacks blob {min(missing)[:12]}")
        return cls(plan=header.plan, blobs=blobs)


def first_problem(error: ValidationError) -> str:
    """One bounded line on the first thing a model refused, without the input itself."""
    first = error.errors(include_url=False, include_input=False, include_context=False)[0]
    where = ".".join(str(part) for part in first["loc"])[:200]
    return f"{where}: {first['msg'][:300]}"


def _named(digests: tuple[str, ...], contents: list[bytes]) -> dict[str, bytes]:
    if len(digests) != len(contents):
        raise PlanRefused("the plan does not name its blobs one by one")
    for sha, content in zip(digests, contents, strict=True):
        if hashlib.sha256(content).hexdigest() != sha:
            raise PlanRefused(f"blob {sha[:12]} does not have the content its name says")
    return dict(zip(digests, contents, strict=True))
