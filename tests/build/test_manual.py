"""Every example of docs/host-code.md builds, or is refused at the line and in the words it says."""

import re
import struct
from pathlib import Path

import pytest

from kernels.contract import Bundle, Case, DType, Parameter, Permissions, Task
from kernels.contract.wire import Failure
from tests.build.builds import answer, task

MANUAL = Path(__file__).parents[2] / "docs" / "host-code.md"
BEGINNING, *EXAMPLES = re.findall(r"^```python\n(.*?)^```", MANUAL.read_text("utf-8"), re.M | re.S)
ENDS = (0, 1000, 1500, 4096)
"""What an example that is shown values is shown."""
REFUSED = re.compile(r"# (rejected|build_error): (.+)")


def asked(example: str) -> Task:
    """A copy of 4096 floats, with what the example's first line says of the task."""
    plain = task({"x": ("N",)}, {"y": ("N",)}, {"N": 1, "dtype": "float32"})
    values = {"N": 4096, "dtype": DType("float32")}
    inputs = plain.inputs
    if "shows ends" in example:
        ends = Parameter(name="ends", shape=(str(len(ENDS)),), dtype="int64", host_visible=True)
        inputs = (*inputs, ends)
    return plain.model_copy(
        update={
            "inputs": inputs,
            "cases": (Case(name="doc", kind="benchmark", values=values),),
            "permissions": Permissions(finishing="permits finishing" in example),
            "style": "out" if "passes its outputs" in example else "return",
        }
    )


def test_the_manual_has_examples() -> None:
    assert len(EXAMPLES) >= 25
    assert sum(1 for example in EXAMPLES if REFUSED.search(example)) >= 10


@pytest.mark.parametrize("example", EXAMPLES)
def test_an_example_does_what_the_manual_says(example: str) -> None:
    source = BEGINNING + example
    task_ = asked(example)
    values = (struct.pack(f"<{len(ENDS)}q", *ENDS),) if len(task_.inputs) == 2 else ()
    found = answer(source, task_, values=values)
    said = REFUSED.search(source)
    if said is None:
        assert isinstance(found, Bundle), found
        return
    assert isinstance(found, Failure)
    assert found.verdict == said[1]
    assert found.reason.startswith(said[2])
    line = found.diagnostics[0].line if found.diagnostics else None
    assert line in (None, source[: said.start()].count("\n") + 1)
