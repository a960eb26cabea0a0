"""What a replay says between the lines of a tool: which case and which kernel is at work."""

from collections.abc import Collection, Iterator
from dataclasses import dataclass, field

from kernels.contract.replaying import MARK

_TEXT = 500
_MOST_LAUNCHES = 10_000


@dataclass
class Progress:
    """How far a replay has come; a kernel can print too, so only what makes sense is taken."""

    cases: Collection[str]
    """That were asked for."""
    case: str = ""
    """At work now."""
    kernel: str = ""
    """Launched last."""
    done: list[str] = field(default_factory=list)
    failed: dict[str, str] = field(default_factory=dict)
    """Why, by case."""
    launches: list[tuple[str, str]] = field(default_factory=list)
    """Case and symbol of each, in order."""

    def take(self, line: str) -> bool:
        """Read a line if it is the replay's own."""
        if not line.startswith(MARK):
            return False
        what, _, text = line.removeprefix(MARK).strip()[:_TEXT].partition(" ")
        name, _, reason = text.partition(" ")
        if what == "launch" and self.case and len(self.launches) < _MOST_LAUNCHES:
            self.kernel = text
            self.launches.append((self.case, text))
        elif what == "case" and name in self.cases:
            self.case, self.kernel = name, ""
        elif what == "done" and name == self.case and name not in self.done:
            self.done.append(name)
        elif what == "failed" and name == self.case:
            self.failed[name] = reason
        return True


def blocks(output: str, progress: Progress) -> Iterator[list[str]]:
    """The messages of compute-sanitizer, each as its lines without the prefix.

    While a message is at hand `progress` says what it is about.
    """
    block: list[str] = []
    for line in output.splitlines():
        if line.startswith("========= ") and line[10:].strip():
            if not line[10:].startswith("   ") and block:
                yield block
                block = []
            block.append(line[10:].strip())
            continue
        if block:
            yield block
            block = []
        progress.take(line)
    if block:
        yield block
