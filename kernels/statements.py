"""Whether a statement says what task.toml asks for: call, shapes, element types, memory, sizes."""

import re
from collections.abc import Iterator

from kernels.contract import DType, Layout, Parameter, Task

_MEMORY = {
    "contiguous": {Layout.CONTIGUOUS},
    "kernels read them": {Layout.CONTIGUOUS},
    "row-major": {Layout.CONTIGUOUS},
    "stored transposed": {Layout.TRANSPOSED},
    "adjacent": {Layout.CONTIGUOUS, Layout.PADDED},
    "any strides": {Layout.CONTIGUOUS, Layout.PADDED, Layout.TRANSPOSED},
}
_ROW = re.compile(r"^\| (.+?) \| (.*?) \| (.*?) \| (.*?) \|$", re.MULTILINE)
_RANGE = re.compile(
    r"((?:\w+, )*\w+(?: and \w+)?) (?:is|are) anything from (\d+) (?:to ([\d,^]+)|on)"
)
_Row = tuple[str, str, str]
"""Of a tensor in the table: shape, element type, and the word for how it lies in memory."""


def problems(task: Task, statement: str) -> Iterator[str]:
    """What a statement does not say or says otherwise, a sentence each."""
    call = f"`{task.entry}({', '.join(parameter.name for parameter in task.inputs)})`"
    if call not in statement:
        yield f"it does not name {call}, what is asked for"
    rows = _rows(statement)
    for parameter in task.inputs:
        if parameter.shape is not None:
            yield from _of_input(task, parameter, rows.get(parameter.name), statement)
    results = {str(spec.dtype) for case in task.cases for spec in task.results(case)}
    said = [_dtypes(dtypes) for name, (_, dtypes, _) in rows.items() if "result" in name]
    if said != [results]:
        yield f"its table needs one row `result`, with {_listed(results)}"
    yield from _of_sizes(task, statement)


def _of_input(task: Task, parameter: Parameter, row: _Row | None, statement: str) -> Iterator[str]:
    name = f"`{parameter.name}`"
    if row is None:
        yield f"its table has no row for {name}"
        return
    shape, dtypes, memory = row
    assert parameter.shape is not None
    asked = ["".join(size.split()) for size in parameter.shape]
    if _sizes(shape) != asked:
        yield f"it says that {name} is {shape}, task.toml [{', '.join(asked)}]"
    types = {str(case.values.get(parameter.dtype, parameter.dtype)) for case in task.cases}
    if _dtypes(dtypes) != types:
        yield f"it says that {name} is of {dtypes}; the cases have {_listed(types)}"
    layouts = {case.layouts.get(parameter.name, Layout.CONTIGUOUS) for case in task.cases}
    if not layouts - {Layout.OFFSET} <= _MEMORY.get(memory, set()):
        yield f"it says that {name} is {memory} in memory; the cases have {_listed(layouts)}"
    if Layout.OFFSET in layouts and "start at an aligned address" not in _flat(statement):
        yield f"it must say that {name} need not start at an aligned address"


def _of_sizes(task: Task, statement: str) -> Iterator[str]:
    for name, (least, most) in _bounds(statement).items():
        for case in task.cases:
            value = case.values.get(name)
            sizes = value if isinstance(value, tuple) else (value,)
            if not all(isinstance(size, int) and least <= size <= most for size in sizes):
                yield f"it says that {name} is from {least} to {most}; in {case.name} it is {value}"


def _rows(statement: str) -> dict[str, _Row]:
    rows: dict[str, _Row] = {}
    last = ""
    for names, shape, dtypes, memory in _ROW.findall(statement):
        last = next((word for word in _MEMORY if word in memory), last)
        for name in [names] if "result" in names else re.findall(r"`(\w+)`", names):
            other = re.match(r"that of `(\w+)`", dtypes)
            rows[name] = (shape, other[0] if other else dtypes, last)
    return {
        name: (shape, _followed(rows, dtypes), mem) for name, (shape, dtypes, mem) in rows.items()
    }


def _followed(rows: dict[str, _Row], dtypes: str) -> str:
    """The element types of another tensor, where they are said to be those."""
    if not dtypes.startswith("that of"):
        return dtypes
    other = rows.get(dtypes[9:-1])
    return other[1] if other else dtypes


def _sizes(shape: str) -> list[str]:
    """A shape of the statement, each size as task.toml writes it."""
    plain = shape.removeprefix("a list of ").replace("[g]", "").replace("/", "//")
    return re.findall(r"[\w/]+", plain)


def _dtypes(text: str) -> set[str]:
    return set(re.findall("|".join(rf"\b{dtype}\b" for dtype in DType), text))


def _bounds(statement: str) -> dict[str, tuple[int, int]]:
    """Least and largest value of each size of which the statement says what it may be."""
    bounds: dict[str, tuple[int, int]] = {}
    for names, least, most in _RANGE.findall(_flat(statement.replace("[g]", ""))):
        base, _, exponent = most.rstrip(",").replace(",", "").partition("^")
        top = int(base or 2**31) ** int(exponent or 1)
        bounds |= dict.fromkeys(re.split(r", | and ", names), (int(least), top))
    return bounds


def _flat(text: str) -> str:
    return " ".join(text.split())


def _listed(words: set[str] | set[Layout]) -> str:
    return ", ".join(sorted(map(str, words)))
