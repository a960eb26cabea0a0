"""Integer arithmetic in task files: shapes, FLOPs and bytes as text such as `2*M*N*K`."""

import ast
import functools
import operator
from collections.abc import Callable, Mapping

_BINARY: dict[type[ast.operator], Callable[[int, int], int]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
}


_FUNCTIONS: dict[str, Callable[[int, int], int]] = {"min": min, "max": max}


def evaluate(text: str, values: Mapping[str, int]) -> int:
    """Value of an expression over names; `+ - * // %`, `min`, `max` and integers only.

    Raises ValueError for anything else, for an unknown name and for a division by zero.
    """
    try:
        return _value(_parsed(text), values)
    except (SyntaxError, ZeroDivisionError) as error:
        raise ValueError(f"cannot evaluate {text!r}: {error}") from None


@functools.lru_cache(maxsize=4096)
def _parsed(text: str) -> ast.expr:
    return ast.parse(text, mode="eval").body


def _value(node: ast.expr, values: Mapping[str, int]) -> int:
    match node:
        case ast.Constant(value=int(number)) if not isinstance(number, bool):
            return number
        case ast.Name(id=name):
            if name not in values:
                raise ValueError(f"unknown name {name!r}; known: {', '.join(sorted(values))}")
            return values[name]
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _BINARY:
            return _BINARY[type(op)](_value(left, values), _value(right, values))
        case ast.Call(func=ast.Name(id=name), args=[left, right], keywords=[]) if (
            name in _FUNCTIONS
        ):
            return _FUNCTIONS[name](_value(left, values), _value(right, values))
        case _:
            raise ValueError(f"only integers, names and + - * // %, not {ast.unparse(node)!r}")
