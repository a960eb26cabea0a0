"""What compute-sanitizer printed on an H200 becomes typed errors and races."""

from pathlib import Path

import pytest

from kernels.contract.inspection import MOST_FINDINGS
from workers.inspection.sanitizer import Sanitized, read

DATA = Path(__file__).parents[1] / "data" / "inspection"
SOFTMAX = (
    "one_column", "one_row", "below_128", "ragged_760", "above_4096", "padded_rows", "unaligned",
    "many_rows", "vocabulary_50257",
)  # fmt: skip


def recorded(name: str, *cases: str) -> Sanitized:
    return read((DATA / f"{name}.txt").read_text(), cases)


def test_one_byte_past_the_end_is_found_in_every_case_with_its_line() -> None:
    seen = recorded("one_past_the_end.memcheck", *SOFTMAX)
    assert seen.ended
    assert seen.total == 9
    assert tuple(error.case for error in seen.errors) == SOFTMAX
    first = seen.errors[0]
    assert (first.kernel, first.space, first.nbytes) == ("softmax_rows", "global", 4)
    assert (first.access.kind, first.access.line) == ("write", 17)
    assert first.reason == "is out of bounds"
    assert first.distance == "1 bytes after an allocation of 20 bytes"
    assert (first.thread, first.block) == ("(0,0,0)", "(4,0,0)")


def test_an_error_in_many_threads_is_one_error() -> None:
    [error] = recorded("illegal_address.memcheck", "one_column").errors
    assert (error.count, error.access.line) == (5, 15)


def test_every_planted_error_is_told_apart() -> None:
    seen = recorded("planted.memcheck", "planted")
    found = [(e.kernel, e.access.kind, e.space, e.reason, e.count) for e in seen.errors]
    assert found == [
        ("strays", "read", "global", "is out of bounds", 1),
        ("strays", "write", "global", "is out of bounds", 4),
        ("atomicAdd", "atomic", "global", "is out of bounds", 2),
        ("misaligned", "write", "global", "is misaligned", 1),
        ("strays_in_shared", "write", "shared", "is out of bounds", 3),
    ]
    assert {e.access.line for e in seen.errors} == {None}, "lines of another file are not ours"


def test_planted_races_have_both_sides() -> None:
    seen = recorded("planted.racecheck", "planted")
    found = [(r.kernel, r.first.kind, r.second.kind, r.hazards, r.severity) for r in seen.races]
    assert found == [
        ("races", "read", "write", 256, "error"),
        ("races", "read", "write", 124, "error"),
    ]
    assert seen.progress.done == ["planted"]


def test_output_that_is_cut_short_keeps_what_was_seen() -> None:
    text = (DATA / "one_past_the_end.memcheck.txt").read_text()
    seen = read(text[: text.index("kerneljudge: case below_128")], SOFTMAX)
    assert not seen.ended
    assert len(seen.errors) == 2
    assert seen.progress.done == ["one_column", "one_row"]


@pytest.mark.parametrize(
    "line",
    [
        "========= Invalid __global__ write of size 4 bytes",
        "========= Invalid  of size ,,, bytes",
        "========= Error: Race reported between X access at \x00 in submission.py:0",
        "kerneljudge: case ../../etc",
        "kerneljudge: launch " + "k" * 10_000,
        "kerneljudge: done nothing",
        "========= ERROR SUMMARY: 99999999999999999999999999 errors",
        "=========     at kernel+0x1 in submission.py:99999999999999",
    ],
)
def test_whatever_a_kernel_prints_is_read(line: str) -> None:
    seen = read(f"{line}\n{line}\nkerneljudge: case tiny\n{line}\n", ("tiny",))
    assert set(seen.progress.done) <= {"tiny"}
    assert {error.case for error in seen.errors} <= {"tiny", "unknown"}


def test_findings_are_bounded() -> None:
    one = "========= Invalid __global__ read of size 4 bytes\n=========     at k+0x{:x} in f.py:1\n"
    seen = read("".join(one.format(n) for n in range(500)), ())
    assert len(seen.errors) == MOST_FINDINGS
    assert seen.total == 500
