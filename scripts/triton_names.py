"""The names that the editor completes, from the Triton that is installed.

    python -m scripts.triton_names > frontend/static/triton-names.js

Names and parameters only; after another version of Triton a test asks for it to be run again.
"""

import inspect
import json
import re
import sys
from collections.abc import Mapping
from types import ModuleType

import triton
import triton.language as tl
from triton.language.extra import libdevice
from triton.language.math import __name__ as _math

Names = dict[str, str]
"""By name: the parameters in brackets of what can be called, otherwise nothing."""

_MODULES: Mapping[str, ModuleType] = {
    "tl": tl,
    "tl.math": sys.modules[_math],
    "triton": triton,
    "libdevice": libdevice,
}
_SILENT = frozenset({"PropagateNan", "pi32_t", "str_to_ty", "void"})
"""Names that are public and for nobody."""
_WRAPPED = re.compile(r"<([\w.]+): \d+>|constexpr\[(.*?)\]")


def names() -> dict[str, Names]:
    """The public names of each module that kernels are written with."""
    return {place: _names_of(module) for place, module in _MODULES.items()}


def as_script(found: Mapping[str, Names]) -> str:
    """The file that the editor loads, one name a line."""
    about = f"// Triton {triton.__version__}; written by scripts/triton_names.py.\n"
    return f"{about}export default {json.dumps(found, indent=1)};\n"


def _names_of(module: ModuleType) -> Names:
    return {
        name: _parameters(value)
        for name, value in sorted(vars(module).items())
        if not name.startswith("_") and name not in _SILENT and _is_own(value)
    }


def _is_own(value: object) -> bool:
    """Whether it is Triton's, and no module: what else a module imports is nobody's to complete."""
    if inspect.ismodule(value):
        return False
    owner = getattr(value, "__module__", None) or type(value).__module__
    return owner.split(".")[0] in ("triton", "builtins")


def _parameters(value: object) -> str:
    function = getattr(value, "fn", value)
    if not callable(function) or isinstance(value, tl.dtype):
        return ""
    try:
        signature = inspect.signature(function)
    except ValueError:  # it says nothing of them
        return "()"
    shown = [
        parameter.replace(annotation=inspect.Parameter.empty)
        for name, parameter in signature.parameters.items()
        if not name.startswith("_")
    ]
    bare = signature.replace(parameters=shown, return_annotation=inspect.Signature.empty)
    # Defaults as one would write them.
    return _WRAPPED.sub(r"\1\2", str(bare).replace("triton.language.", "tl."))


if __name__ == "__main__":
    sys.stdout.write(as_script(names()))
