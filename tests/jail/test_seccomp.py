"""The filter as a program; what it does is shown by the code in jails."""

import pytest

from workers.jail import seccomp


@pytest.mark.parametrize("machine", ["x86_64", "aarch64"])
@pytest.mark.parametrize("cuda", [False, True])
def test_jumps_stay_inside_and_the_end_is_a_return(machine: str, cuda: bool) -> None:
    code = seccomp.program(machine, cuda)
    instructions = [code[i : i + 8] for i in range(0, len(code), 8)]
    assert 100 < len(instructions) < 4096
    for place, (kind, _, if_true, if_false, *_) in enumerate(instructions):
        if kind & 7 == 5:
            assert place + 1 + max(if_true, if_false) < len(instructions)
    assert instructions[-1][0] == 6


def test_unknown_machine_is_refused() -> None:
    with pytest.raises(ValueError, match="riscv64: run the judge on x86_64, aarch64"):
        seccomp.program("riscv64", cuda=False)
