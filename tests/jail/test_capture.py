"""Keeping head and tail of endless text."""

import pytest

from workers.jail.capture import HeadAndTail, clip

HALF = 32 * 1024


def feed(data: bytes, step: int) -> HeadAndTail:
    """Feed `data` in pieces of `step` bytes."""
    kept = HeadAndTail()
    for start in range(0, len(data), step):
        kept.feed(data[start : start + step])
    return kept


@pytest.mark.parametrize("step", [1000, HALF, 100_000])
@pytest.mark.parametrize("length", [0, 1, HALF, HALF + 1, 2 * HALF])
def test_short_text_is_kept_whole(length: int, step: int) -> None:
    data = bytes(97 + i % 26 for i in range(length))
    assert feed(data, step).text() == data.decode()


@pytest.mark.parametrize("step", [1000, 2 * HALF + 1, 10**6])
def test_long_text_loses_its_middle(step: int) -> None:
    data = b"a" * HALF + b"b" * 1000 + b"c" * HALF
    kept = feed(data, step)
    assert kept.total == len(data)
    assert kept.text() == "a" * HALF + "\n[1000 bytes left out]\n" + "c" * HALF


def test_what_is_no_text_is_replaced() -> None:
    assert feed(b"a\xffb", 1).text() == "a\ufffdb"
    assert feed("é".encode(), 1).text() == "é"
    assert clip("a\ud800b") == "a\\ud800b"
