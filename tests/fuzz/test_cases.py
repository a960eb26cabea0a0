"""What the fuzzer found, and what it begins with: refused in words or harmless."""

import random
from pathlib import Path

import pytest

from tests.fuzz import mutation, targets

CASES = sorted(path for path in (Path(__file__).parent / "cases").iterdir() if path.suffix != ".md")


@pytest.mark.parametrize("case", CASES, ids=lambda path: path.name[:24])
def test_a_found_input_raises_no_more(case: Path) -> None:
    targets.run(case.read_bytes())


def test_mutations_reach_beyond_the_frame_and_raise_nothing() -> None:
    """The fuzzer's own mutations, without its guidance."""
    chance = random.Random(4)
    whole = 0
    for seed in targets.seeds():
        for _ in range(40):
            found = mutation.mutate(seed, 200_000, chance.getrandbits(32), lambda data, most: data)
            whole += found != seed
            targets.run(found)
    assert whole > 200
