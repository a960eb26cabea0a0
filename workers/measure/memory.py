"""One block of device memory per case: every buffer between guards, so that strays show.

Three sections lie one behind the other: inputs, constants, and what is volatile (outputs,
temporaries, kernels' scratch). In each, guards surround every buffer. Inputs and constants are
written as whole sections from images, guards included; the volatile section is poisoned.
"""

import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor

from kernels.contract import Buffer, View
from workers.measure.reference import torch_dtype

ALIGNMENT = 512
"""Of every buffer, as torch aligns what it allocates: kernels may be built for it."""

GUARD_BYTES = 64 << 10
"""Room on each side of a buffer; a block that runs over an edge lands in it."""

NAN = 0xFF
"""Byte that makes NaN in every float type and -1 in every integer type."""


@dataclass(frozen=True)
class Section:
    """Buffers laid out between guards."""

    start: int
    end: int
    buffers: dict[int, tuple[int, int]]
    """First byte and first byte behind, by index of the buffer."""
    guards: tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class MemoryLayout:
    """Where everything of one case lies; positions in bytes."""

    inputs: Section
    constants: Section
    volatile: Section
    places: tuple[int, ...]
    """First byte of each buffer of the plan."""

    @property
    def nbytes(self) -> int:
        """All memory of the case."""
        return self.volatile.end


@dataclass(frozen=True)
class Damage:
    """Bytes that a plan changed and may not change."""

    kind: Literal["guard", "input", "constant"]
    buffer: int
    """The buffer that was changed, or the one beside the guard."""
    side: Literal["before", "after", "in"]
    count: int
    """Changed bytes."""


def lay_out(buffers: Sequence[Buffer], scratch_bytes: int) -> MemoryLayout:
    """Place the buffers of a case; the scratch is the last of the volatile section."""
    roles: dict[str, dict[int, int]] = {"input": {}, "constant": {}, "volatile": {}}
    for index, buffer in enumerate(buffers):
        role = buffer.role if buffer.role in roles else "volatile"
        roles[role][index] = buffer.nbytes
    roles["volatile"][len(buffers)] = scratch_bytes
    inputs = _section(0, roles["input"])
    constants = _section(inputs.end, roles["constant"])
    volatile = _section(constants.end, roles["volatile"])
    starts = {**inputs.buffers, **constants.buffers, **volatile.buffers}
    places = tuple(starts[index][0] for index in range(len(buffers) + 1))
    return MemoryLayout(inputs, constants, volatile, places)


def _section(start: int, sizes: Mapping[int, int]) -> Section:
    buffers: dict[int, tuple[int, int]] = {}
    guards = []
    edge = start
    for index, nbytes in sizes.items():
        place = _aligned(edge + GUARD_BYTES)
        guards.append((edge, place))
        edge = place + nbytes
        buffers[index] = (place, edge)
    end = _aligned(edge + GUARD_BYTES)
    guards.append((edge, end))
    return Section(start, end, buffers, tuple(guards))


def _aligned(position: int) -> int:
    return -(-position // ALIGNMENT) * ALIGNMENT


class Memory:
    """The memory of one case on a device."""

    def __init__(
        self,
        buffers: Sequence[Buffer],
        blobs: Mapping[str, bytes],
        scratch_bytes: int,
        device: str,
    ) -> None:
        """Allocate and write the constants; torch.OutOfMemoryError if the device is too small."""
        self._buffers = buffers
        self.layout = lay_out(buffers, scratch_bytes)
        self._bytes = torch.empty(self.layout.nbytes, dtype=torch.uint8, device=device)
        self._scratch_used = 0
        self._poison = NAN
        self._constants = self._constants_image(blobs)
        self.restore_constants()
        self.poison(NAN)

    def address(self, buffer: int, offset: int = 0) -> int:
        """Device address of a byte of a buffer."""
        return self._bytes.data_ptr() + self.layout.places[buffer] + offset

    def tensor(self, view: View) -> Tensor:
        """The tensor that a view of the plan describes."""
        start = self.layout.places[view.buffer] + view.offset
        tensor = torch.empty(0, dtype=torch_dtype(view.dtype), device=self._bytes.device)
        storage = self._bytes.untyped_storage()
        return tensor.set_(storage, start // view.dtype.itemsize, view.shape, view.strides)

    def take_scratch(self, nbytes: int, alignment: int) -> int:
        """Address of scratch for one launch; the pool is used again from its start when it ends."""
        start, end = self.layout.volatile.buffers[len(self._buffers)]
        place = -(-(start + self._scratch_used) // alignment) * alignment
        if place + nbytes > end:
            place = start
        self._scratch_used = place + nbytes - start
        return self._bytes.data_ptr() + place

    def image(self, inputs: Mapping[str, Tensor]) -> Tensor:
        """The inputs section as it is before a run: the given buffers between guards."""
        section = self.layout.inputs
        image = torch.full(
            (section.end - section.start,), NAN, dtype=torch.uint8, device=self._bytes.device
        )
        for index, (start, end) in section.buffers.items():
            image[start:end] = inputs[str(self._buffers[index].name)]
        return image

    def load(self, image: Tensor) -> None:
        """Write all inputs."""
        self._slice(self.layout.inputs).copy_(image)

    def restore_constants(self) -> None:
        """Write all constants."""
        self._slice(self.layout.constants).copy_(self._constants)

    def poison(self, byte: int, generator: torch.Generator | None = None) -> None:
        """Fill outputs, temporaries and scratch with a byte, or with noise between such guards."""
        self._poison = byte
        section = self.layout.volatile
        if generator is None:
            self._slice(section).fill_(byte)
            return
        self._slice(section).random_(generator=generator)
        for start, end in section.guards:
            self._bytes[start:end].fill_(byte)

    def damage(
        self, image: Tensor, unchanged: Sequence[int] = (), in_place: bool = False
    ) -> Damage | None:
        """The worst that a run did: a guard, or an input or a constant of `unchanged`, changed."""
        inputs, constants = self.layout.inputs, self.layout.constants
        changed_inputs = self._slice(inputs) != image
        changed_constants = self._slice(constants) != self._constants
        guards = torch.cat([self._bytes[start:end] for start, end in self.layout.volatile.guards])
        changed_guards = guards != self._poison
        marks = torch.stack([changed_inputs.any(), changed_constants.any(), changed_guards.any()])
        in_inputs, in_constants, in_guards = marks.tolist()
        found = None
        if in_guards:
            found = _stray(self.layout.volatile, changed_guards)
        if in_inputs and found is None:
            found = _guard_of(inputs, changed_inputs)
        if in_constants and found is None:
            found = _guard_of(constants, changed_constants)
        if in_inputs and found is None and not in_place:
            found = _content_of(inputs, changed_inputs, list(inputs.buffers), "input")
        if in_constants and found is None:
            found = _content_of(constants, changed_constants, unchanged, "constant")
        return found

    def _slice(self, section: Section) -> Tensor:
        return self._bytes[section.start : section.end]

    def _constants_image(self, blobs: Mapping[str, bytes]) -> Tensor:
        section = self.layout.constants
        image = bytearray([NAN]) * (section.end - section.start)
        for index, (start, _) in section.buffers.items():
            buffer = self._buffers[index]
            content = bytearray(blobs[str(buffer.content)][: buffer.nbytes])
            content += bytes(buffer.nbytes - len(content))
            for relocation in buffer.relocations:
                address = self.address(relocation.buffer, relocation.offset)
                struct.pack_into("<Q", content, relocation.at, address)
            begin = start - section.start
            image[begin : begin + buffer.nbytes] = content
        return torch.frombuffer(image, dtype=torch.uint8).to(self._bytes.device)


def _stray(section: Section, changed: Tensor) -> Damage:
    """Damage from marks over all guards of a section, laid end to end."""
    position = 0
    for guard in section.guards:
        size = guard[1] - guard[0]
        marks = changed[position : position + size]
        if bool(marks.any()):
            return _beside(section, guard, marks)
        position += size
    raise AssertionError("no guard is marked")


def _guard_of(section: Section, changed: Tensor) -> Damage | None:
    """Damage to a guard, from marks over a whole section."""
    for guard in section.guards:
        marks = changed[guard[0] - section.start : guard[1] - section.start]
        if bool(marks.any()):
            return _beside(section, guard, marks)
    return None


def _content_of(
    section: Section,
    changed: Tensor,
    buffers: Sequence[int],
    kind: Literal["input", "constant"],
) -> Damage | None:
    for index in buffers:
        if index not in section.buffers:
            continue
        start, end = section.buffers[index]
        count = int(changed[start - section.start : end - section.start].sum())
        if count:
            return Damage(kind, index, "in", count)
    return None


def _beside(section: Section, guard: tuple[int, int], marks: Tensor) -> Damage:
    """Whose guard it is: of the buffer that the first changed byte is nearer to."""
    first = guard[0] + int(marks.to(torch.uint8).argmax())
    count = int(marks.sum())
    left = [index for index, (_, end) in section.buffers.items() if end == guard[0]]
    right = [index for index, (start, _) in section.buffers.items() if start == guard[1]]
    if left and (not right or first - guard[0] <= guard[1] - first):
        return Damage("guard", left[-1], "after", count)
    return Damage("guard", right[0], "before", count)
