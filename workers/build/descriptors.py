"""Host tensor descriptors: a map the hardware reads, followed by sizes and strides."""

from typing import Any

import torch

from kernels.contract import IntegerArgument, TensorMapArgument
from kernels.contract.steps import Argument
from workers.build.recorder import Recorder
from workers.build.tensors import on_device

_TO_HOST = {8: 10, 9: 8, 10: 9}
"""Element types whose number on the device is another than in the driver's API."""
_TF32 = 11


def encode(recorder: Recorder, descriptor: Any, layout: dict[str, Any]) -> list[Argument]:
    """What Triton passes for a descriptor whose box the compiler laid out so.

    It is read at the launch, since pre-hooks and grids change it.
    """
    base = descriptor.base
    if not isinstance(base, torch.Tensor) or not on_device(base):
        raise ValueError("a tensor descriptor must be made from a CUDA tensor")
    recorder.launched(base)
    shape = tuple(int(size) for size in descriptor.shape)
    strides = tuple(int(step) for step in descriptor.strides)
    return [
        _map(recorder, descriptor, layout, shape, strides),
        *(IntegerArgument(type="i32", value=size) for size in shape),
        *(IntegerArgument(type="i64", value=step) for step in strides),
    ]


def _map(
    recorder: Recorder,
    descriptor: Any,
    layout: dict[str, Any],
    shape: tuple[int, ...],
    strides: tuple[int, ...],
) -> TensorMapArgument:
    if layout.get("fp4_padded") or hasattr(descriptor, "pixel_box_lower_corner"):
        raise recorder.refused(
            "packed fp4 and im2col descriptors cannot stand in a plan", "use a tiled descriptor"
        )
    element = _TF32 if getattr(descriptor, "round_f32_to_tf32", False) else layout["elem_type"]
    view = recorder.memory.view(descriptor.base)
    return TensorMapArgument(
        buffer=view.buffer,
        offset=view.offset,
        shape=shape,
        strides=strides,
        box=tuple(layout["block_size"]),
        element_type=_TO_HOST.get(element, element),
        element_bytes=layout["elem_size"],
        swizzle=layout["swizzle"],
        nan_fill=getattr(descriptor, "padding", "zero") == "nan",
    )
