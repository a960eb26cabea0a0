"""Bounded keeping of text that may be endless."""

_KEPT_BYTES = 64 * 1024
_HALF = _KEPT_BYTES // 2


class HeadAndTail:
    """The first and last 32 KiB of all that is fed to it."""

    def __init__(self) -> None:
        self.total = 0
        self._head = bytearray()
        self._tail = bytearray()

    def feed(self, data: bytes) -> None:
        """Take more bytes."""
        self.total += len(data)
        room = _HALF - len(self._head)
        self._head += data[:room]
        self._tail += data[room:] if room < len(data) else b""
        del self._tail[:-_HALF]

    def text(self) -> str:
        """What is kept, as UTF-8 with replacement, and a line on what is not."""
        left_out = self.total - len(self._head) - len(self._tail)
        middle = f"\n[{left_out} bytes left out]\n" if left_out else ""
        if not middle:
            return bytes(self._head + self._tail).decode(errors="replace")
        tail = self._tail.decode(errors="replace")
        return self._head.decode(errors="replace") + middle + tail


def clip(text: str) -> str:
    """`text` as its head and tail, safe to encode."""
    kept = HeadAndTail()
    kept.feed(text.encode(errors="backslashreplace"))
    return kept.text()
