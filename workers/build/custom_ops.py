"""Operations that the submission registered with torch.library: their Python body is run."""

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from typing import Any

import torch
from torch._library.custom_ops import OPDEFS
from torch._ops import OpOverload

from workers.build.recorder import Recorder
from workers.build.tensors import has_kernel

_KEYS = ("CUDA", "CompositeExplicitAutograd", "CompositeImplicitAutograd")


def run(
    func: OpOverload,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    recorder: Recorder,
    modes: Callable[[], Sequence[Any]],
) -> Any:
    """Result of the body that would run on a GPU; torch itself would take the one for shapes."""
    with ExitStack() as stack:
        for mode in modes():
            stack.enter_context(mode)
        body = _body(func)
        if body is not None:
            return body(*args, **kwargs)
        for key in _KEYS:
            if has_kernel(func, key):
                keys = torch._C.DispatchKeySet(getattr(torch._C.DispatchKey, key))
                return func.redispatch(keys, *args, **kwargs)
    raise recorder.refused(
        f"operation {func._schema.name} has no Python implementation for CUDA",
        "call the Triton kernel from plain Python",
    )


def _body(func: OpOverload) -> Callable[..., Any] | None:
    definition = OPDEFS.get(func._schema.name)
    if definition is None:
        return None
    bodies: dict[str | None, Callable[..., Any]] = definition._backend_fns
    return bodies.get("cuda") or bodies.get(None)
