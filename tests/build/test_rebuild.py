"""Compiling again: what may be passed on, what is counted, and what is the same elsewhere."""

import pytest

from workers.build import disassembly, ptxas

LISTING = """\
00000  LDC R1, c[0x0][0x28]
00010  @!P0 LDG.E.128.CONSTANT R4, desc[UR4][R2.64]
00020  @P1 LDG.E.U16 R4, desc[UR4][R2.64]
00030  LDGSTS.E.BYPASS.LTC128B.128 [R7], desc[UR4][R2.64]
00040  @!UP0 UTMALDG.2D [UR8], [UR4]
00050  HGMMA.64x128x16.F32 R24, gdesc[UR4], R24
00060  HMMA.16816.F32 R4, R8, R10, R4
00070  MUFU.EX2 R4, R4
00080  STL [R1], R4
00090  @P0 STG.E desc[UR4][R2.64], R4
000a0  EXIT
"""


def test_instructions_are_counted_by_kind_and_width() -> None:
    mix = disassembly.mix(LISTING)
    assert mix.total == 11
    assert (mix.wgmma, mix.mma, mix.tma, mix.async_copies) == (1, 1, 1, 1)
    assert (mix.local, mix.special) == (1, 1)
    assert mix.loads == {"16": 1, "2": 1}
    assert mix.stores == {"4": 1}


@pytest.mark.parametrize("text", ["-v", "--opt-level 1", "-O0 --maxrregcount=64", "--fmad=false"])
def test_tuning_the_assembler_is_passed_on(text: str) -> None:
    assert ptxas.only_tunes(text)


@pytest.mark.parametrize(
    "text",
    ["--input-as-string x", "-o other", "other.ptx", "--options-file=x", "-ias", "", "-v\t-o"],
)
def test_other_inputs_for_the_assembler_are_not(text: str) -> None:
    assert not ptxas.only_tunes(text)


def test_the_line_table_does_not_depend_on_the_machine() -> None:
    ptx = f'\t.file\t1 "submission.py"\n\t.file\t2 "{ptxas.PACKAGES}triton/language/x.py"\n'
    assert ptxas.portable(ptx) == (
        '\t.file\t1 "submission.py", 1, 1\n\t.file\t2 "triton/language/x.py", 1, 1\n'
    )
