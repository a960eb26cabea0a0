"""The hostile submissions of this folder, and what each must come to."""

import os
import re
from dataclasses import dataclass
from pathlib import Path

from kernels.contract import Verdict

FOLDER = Path(__file__).parent
GROUPS = ("cheating", "faults", "forgery", "honest", "host", "snooping")
HONEST = (FOLDER / "submissions" / "honest_softmax.py").read_text()
ALL = os.environ.get("KERNELJUDGE_HOSTILE") == "all"
"""Whether those are run too that take long, or resemble others."""

_PLACE_OF_HONEST = "# + honest softmax\n"
_HEAD = re.compile(r'"""(?P<rows>[^:]+):[^"]*Must be: (?P<verdicts>[a-z_, ]+)\."""')


@dataclass(frozen=True)
class Row:
    """One submission; `verdicts` are those that are right."""

    path: Path
    source: str
    verdicts: frozenset[Verdict]


def rows(group: str) -> list[Row]:
    """The submissions of one group; ValueError for a file that does not say what it must be."""
    folder = FOLDER / "submissions" / group
    paths = [*folder.glob("*.py"), *(folder.glob("long/*.py") if ALL else ())]
    return [_read(path) for path in sorted(paths)]


def _read(path: Path) -> Row:
    text = path.read_text()
    head = _HEAD.match(text)
    if head is None:
        raise ValueError(f"{path} must begin with its rows and 'Must be: <verdicts>.'")
    words = re.split(r", | or ", head["verdicts"])
    source = text.replace(_PLACE_OF_HONEST, HONEST)
    return Row(path, source, frozenset(Verdict(word) for word in words))
