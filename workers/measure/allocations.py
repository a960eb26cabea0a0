"""Memory of one case with an allocation for each buffer, so that a tool knows where each ends.

With PYTORCH_NO_CUDA_MEMORY_CACHING=1 in the environment torch asks the driver for exactly as many
bytes as a buffer has, and compute-sanitizer sees the first byte that is out of bounds.
"""

import struct
from collections.abc import Mapping, Sequence

import torch
from torch import Tensor

from kernels.contract import Buffer, View
from workers.measure.memory import NAN
from workers.measure.reference import torch_dtype


class Allocations:
    """The buffers of one case on a device."""

    def __init__(
        self,
        buffers: Sequence[Buffer],
        blobs: Mapping[str, bytes],
        inputs: Mapping[str, Tensor],
        device: str,
    ) -> None:
        """Allocate and fill: inputs and constants with their values, all else with NaN.

        `inputs` holds the bytes of each input by its name. torch.OutOfMemoryError.
        """
        self._device = device
        self._tensors = [self._allocate(buffer.nbytes) for buffer in buffers]
        self._scratch: list[Tensor] = []
        for index, buffer in enumerate(buffers):
            if buffer.name is not None:
                self._tensors[index].copy_(inputs[buffer.name])
            elif buffer.content is not None:
                self._write_constant(index, buffer, blobs[buffer.content])

    def address(self, buffer: int, offset: int = 0) -> int:
        """Device address of a byte of a buffer."""
        return self._tensors[buffer].data_ptr() + offset

    def tensor(self, view: View) -> Tensor:
        """The tensor that a view of the plan describes."""
        tensor = torch.empty(0, dtype=torch_dtype(view.dtype), device=self._device)
        storage = self._tensors[view.buffer].untyped_storage()
        return tensor.set_(storage, view.offset // view.dtype.itemsize, view.shape, view.strides)

    def take_scratch(self, nbytes: int, alignment: int) -> int:
        """Address of scratch for one launch, an allocation of its own."""
        del alignment  # the driver aligns to 256 bytes at least
        self._scratch.append(self._allocate(nbytes))
        return self._scratch[-1].data_ptr()

    def _allocate(self, nbytes: int) -> Tensor:
        tensor = torch.empty(max(nbytes, 1), dtype=torch.uint8, device=self._device)
        return tensor.fill_(NAN)[:nbytes]

    def _write_constant(self, index: int, buffer: Buffer, content: bytes) -> None:
        image = bytearray(content[: buffer.nbytes]).ljust(buffer.nbytes, b"\0")
        for relocation in buffer.relocations:
            address = self.address(relocation.buffer, relocation.offset)
            struct.pack_into("<Q", image, relocation.at, address)
        if image:
            self._tensors[index].copy_(torch.frombuffer(image, dtype=torch.uint8))
