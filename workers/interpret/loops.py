"""Has loops of interpreted kernels count as compiled ones do: in scalars, not in Python's integers.

So `row.to(tl.int64)` works, and what does not fit into 32 bits wraps. `tl.static_range` counts in
constants in both and stays as it is.
"""

import ast
from collections.abc import Iterator
from typing import Any

import numpy as np
import triton.language as tl
from triton.runtime import interpreter


def install() -> None:
    """Replace `range` and `tl.range` in kernels that this process interprets, for good."""
    patch = interpreter._patch_lang_core

    def patch_lang_core(lang: Any, scope: Any) -> None:
        patch(lang, scope)
        scope.set_attr(lang, "range", _scalars)

    interpreter._patch_lang_core = patch_lang_core
    interpreter.ASTTransformer.visit_For = _visit_for
    # Kernels are given the names of this module that theirs does not have.
    setattr(interpreter, _scalars.__name__, _scalars)
    # For whoever took it from its module before that was patched.
    tl.range.__iter__ = _of_range


def _of_range(loop: Any) -> Iterator[Any]:
    return _scalars(loop.start, loop.end, loop.step)


def _visit_for(transformer: ast.NodeTransformer, node: ast.For) -> ast.AST:
    match node.iter:
        case ast.Call(func=ast.Name(id="range") as name):
            name.id = _scalars.__name__
    return transformer.generic_visit(node)


def _scalars(arg1: Any, arg2: Any = None, step: Any = None, **_: Any) -> Iterator[Any]:
    """The values of a loop, in the integer type to which its bounds and step are promoted."""
    semantic = interpreter.interpreter_semantic
    bounds = (0, arg1) if arg2 is None else (arg1, arg2)
    start, end = map(semantic.to_tensor, bounds)
    by = semantic.to_tensor(1 if step is None else step)
    kind = semantic.integer_promote_impl(start.dtype, end.dtype)
    kind = semantic.integer_promote_impl(kind, by.dtype)
    numpy_kind = interpreter._get_np_dtype(kind)
    first, last = (each.handle.data.astype(numpy_kind).item() for each in (start, end))
    stride = by.handle.data.item()
    if stride <= 0 and isinstance(step, tl.tensor):
        _refuse_to_count_down(first, last)
        return
    for value in range(first, last, stride):
        handle = interpreter.TensorHandle(np.array([value], numpy_kind), kind)
        yield tl.tensor(handle, kind)


def _refuse_to_count_down(first: int, last: int) -> None:
    """A compiled loop ends where it begins, or never, if its step is no constant above zero."""
    if first < last:
        raise ValueError(
            f"a loop from {first} to {last} never ends, as its step is not above zero; "
            "loops count down only by a constant step"
        )
