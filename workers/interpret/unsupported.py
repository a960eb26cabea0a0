"""Says what Triton's interpreter cannot run, so that nobody takes it for a fault of the kernel."""

from typing import Any

from triton.experimental.gluon._runtime import GluonJITFunction
from triton.runtime import interpreter

from workers.interpret.faults import Unsupported

_MISSING = {
    "create_inline_asm": "inline assembly",
    "create_extern_elementwise": "functions of external libraries",
    "create_dot_scaled": "tl.dot_scaled",
}


def install() -> None:
    """Replace what the interpreter of this process lacks by a clear refusal, for good."""
    for method, what in _MISSING.items():
        setattr(interpreter.InterpreterBuilder, method, _refusal(what))
    GluonJITFunction.run = _refusal("Gluon kernels")


def _refusal(what: str) -> Any:
    def refuse(*_: Any, **__: Any) -> Any:
        raise Unsupported(f"the CPU interpreter cannot run {what}: only a GPU can judge this")

    return refuse
