"""Which line of the source each line of a compiler's text comes from."""

import zlib

import pytest

from app.pages.compiled import arranged, text_of
from kernels.contract import limits
from tests.contract.examples import SHA, bundle
from tests.pages.compiling import PTX, SASS, TTIR


def test_mlir_lines_name_their_source() -> None:
    shown = arranged("ttir", TTIR)
    found = {line.text.split()[0]: line.source for line in shown.lines}
    assert found["%zero"] is None
    assert found["%values"] == 11
    assert found["%top"] == 11, "called from there"
    assert found["%both"] == 11
    assert found["%round"] is None, "its location goes round in a circle"
    assert found["tt.return"] == 13
    assert not any("#loc2" in line.text for line in shown.lines)
    assert shown.sources == {7, 11, 13}


def test_ptx_lines_name_their_source() -> None:
    shown = arranged("ptx", PTX)
    found = {line.text.split()[0]: line.source for line in shown.lines}
    assert found[".version"] is None
    assert found["ld.global.b16"] == 11
    assert found["max.f32"] == 12, "where it was inlined"
    assert found["ret;"] is None
    assert not any(word in line.text for line in shown.lines for word in (".loc", ".b8", "tmp0"))


def test_machine_code_names_none() -> None:
    assert arranged("sass", SASS).sources == frozenset()


@pytest.mark.parametrize("kind", ["ttir", "ptx", "sass"])
@pytest.mark.parametrize("text", ["\n" * 2_000_000, "x" * 2_000_000, ' loc("' * 300_000, ""])
def test_hostile_texts_are_bounded(kind: str, text: str) -> None:
    shown = arranged(kind, text)  # type: ignore[arg-type]
    assert len(shown.lines) <= 5_000
    assert sum(len(line.text) for line in shown.lines) < 100_000


def test_long_texts_say_how_much_is_left_out() -> None:
    shown = arranged("sass", "NOP\n" * 70_000)
    assert len(shown.lines) + shown.left_out == 70_001


@pytest.mark.parametrize("packed", [b"no zlib", zlib.compress(b"\0" * 3 * limits.TEXT_BYTES)])
def test_texts_that_do_not_unpack(packed: bytes) -> None:
    found = bundle().with_texts("ptx", {SHA: packed})
    assert len(text_of(found, found.plan.kernels[SHA], "ptx")) in (0, limits.TEXT_BYTES)
