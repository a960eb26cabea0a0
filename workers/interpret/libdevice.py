"""libdevice functions for the interpreter, which has none: torch's CPU functions stand in."""

import importlib
import inspect
from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np
import torch
import triton.language as tl
from triton.runtime import interpreter

from workers.interpret.caveats import Caveats
from workers.interpret.faults import Unsupported

_MODULES = ("triton.language.extra.libdevice", "triton.language.extra.cuda.libdevice")

Function = Callable[..., torch.Tensor]

_SAME_NAME = (
    "abs exp exp2 expm1 log log2 log10 log1p sin cos tan asin acos atan sinh cosh tanh asinh acosh"
    " atanh sqrt rsqrt floor ceil trunc erf erfc erfinv lgamma pow atan2 fmod hypot copysign"
)
_FUNCTIONS: dict[str, Function] = {
    **{name: getattr(torch, name) for name in _SAME_NAME.split()},
    "cbrt": lambda x: torch.sign(x) * torch.abs(x) ** (1 / 3),
    "exp10": lambda x: torch.pow(10.0, x),
    "rint": torch.round,
    "nearbyint": torch.round,
    "round": lambda x: torch.trunc(x + torch.copysign(torch.full_like(x, 0.5), x)),
    "normcdf": torch.special.ndtr,
    "normcdfinv": torch.special.ndtri,
    "j0": torch.special.bessel_j0,
    "j1": torch.special.bessel_j1,
    "fdim": lambda x, y: torch.clamp(x - y, min=0),
    "div_rn": torch.div,
    "mul_rn": torch.mul,
    "add_rn": torch.add,
    "sub_rn": torch.sub,
    "sqrt_rn": torch.sqrt,
    "rcp_rn": torch.reciprocal,
    "fma": lambda x, y, z: (x.double() * y.double() + z.double()).to(x.dtype),
    "fma_rn": lambda x, y, z: (x.double() * y.double() + z.double()).to(x.dtype),
    "fast_expf": torch.exp,
    "fast_exp10f": lambda x: torch.pow(10.0, x),
    "fast_logf": torch.log,
    "fast_log2f": torch.log2,
    "fast_log10f": torch.log10,
    "fast_sinf": torch.sin,
    "fast_cosf": torch.cos,
    "fast_tanf": torch.tan,
    "fast_powf": torch.pow,
    "fast_dividef": torch.div,
}


def install(caveats: Caveats) -> None:
    """Replace libdevice's functions in this process, for good."""
    for name in _MODULES:
        module = importlib.import_module(name)
        for function in _functions(module):
            setattr(module, function, _stand_in(function, caveats))


def _functions(module: ModuleType) -> list[str]:
    return [
        name
        for name, member in vars(module).items()
        if inspect.isfunction(member) and member.__module__ == module.__name__
    ]


def _stand_in(name: str, caveats: Caveats) -> Callable[..., Any]:
    function = _FUNCTIONS.get(name)

    def call(*args: Any, _semantic: Any = None) -> Any:
        if function is None:
            raise Unsupported(
                f"the CPU interpreter does not know libdevice.{name}; only a GPU can judge this"
            )
        caveats.add(f"libdevice.{name} was computed by the CPU's mathematics library.")
        return _apply(function, args)

    return call


def _apply(function: Function, args: tuple[Any, ...]) -> Any:
    first = next(arg for arg in args if isinstance(arg, tl.tensor))
    if not first.dtype.is_floating() or first.dtype.primitive_bitwidth < 32:
        raise Unsupported("the CPU interpreter computes libdevice functions in float32 and float64")
    values = [_values(arg, first) for arg in args]
    result = np.asarray(function(*values))
    kind = tl.block_type(first.dtype, list(result.shape)) if first.type.is_block() else first.dtype
    return tl.tensor(interpreter.TensorHandle(result, first.dtype), kind)


def _values(arg: Any, like: Any) -> torch.Tensor:
    data = (
        arg.handle.data if isinstance(arg, tl.tensor) else np.asarray(arg, like.handle.data.dtype)
    )
    return torch.from_numpy(np.ascontiguousarray(data))
