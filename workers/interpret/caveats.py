"""What a check on the interpreter cannot vouch for, told with its result."""

from collections.abc import Sequence

from kernels.contract import DType, Task

_MOST = 16
_LONGEST = 500


class Caveats:
    """Sentences collected while submissions run: each once, bounded in number and length."""

    def __init__(self) -> None:
        self._texts: dict[str, None] = {}

    def add(self, text: str) -> None:
        """Keep a sentence, unless there are too many."""
        if len(self._texts) < _MOST:
            self._texts[text[:_LONGEST]] = None

    def all(self) -> tuple[str, ...]:
        """Every sentence, in the order in which they were first added."""
        return tuple(self._texts)


def standing(task: Task) -> Sequence[str]:
    """What holds for every submission of a task."""
    left_out = sum(not case.interpreted for case in task.cases)
    texts = [
        "The interpreter runs one program after another: it shows no races between programs or"
        " threads.",
        "The interpreter says nothing about speed.",
    ]
    if left_out:
        texts.append(f"{left_out} of {len(task.cases)} cases are left to a GPU and were not run.")
    if _has_small_floats(task):
        texts.append("The interpreter rounds some conversions to 8-bit floats wrongly.")
    return texts


def _has_small_floats(task: Task) -> bool:
    small = {DType.FLOAT8_E4M3FN, DType.FLOAT8_E5M2}
    return any(spec.dtype in small for case in task.cases for spec in task.tensors(case))
