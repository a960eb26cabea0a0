"""A randomised run: submissions in flight all the time, one fault after the other."""

import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TextIO

from tests.chaos.audit import audit
from tests.chaos.clients import Clients
from tests.chaos.faults import FAULTS, Rain, Scale
from tests.chaos.ledger import Ledger, percentile
from tests.chaos.site import Site, installation_under_load

RECOVERY_BUDGET_S = 60.0
_GIVE_UP_S = 300.0
"""A fault after which something is still unfinished has been survived by nobody."""
_IN_FLIGHT = 6
_FOR_EACH = 5
"""Submissions that begin before each fault, at least."""
_MOMENT_S = 1.5
"""A fault comes within this time after they have begun."""
_DISK_BYTES = 384 << 20


@dataclass(frozen=True)
class Struck:
    """One fault and how long it took to get over it."""

    name: str
    done: str
    recovery_s: float
    """From its end until all that was in flight at its start or its end is finished."""


@dataclass
class Result:
    """What a run showed."""

    seed: int
    ledger: Ledger
    struck: list[Struck] = field(default_factory=list)
    broken: list[str] = field(default_factory=list)
    repeated: int = 0
    seconds: float = 0.0

    @property
    def recovery_p95_s(self) -> float:
        """95 % of the faults were over within this time."""
        return percentile([struck.recovery_s for struck in self.struck], 0.95)

    @property
    def held(self) -> bool:
        """Whether every promise was kept."""
        return not self.broken and self.recovery_p95_s <= RECOVERY_BUDGET_S


def run(
    submissions: int,
    seed: int,
    kinds: Sequence[str] = tuple(FAULTS),
    scale: Scale | None = None,
    out: TextIO = sys.stdout,
) -> Result:
    """Hurt an installation of its own; prints what happens as it happens."""
    chance, ledger = random.Random(seed), Ledger()
    result = Result(seed, ledger)
    started = time.monotonic()
    clock = any(kind.startswith("clock") for kind in kinds)
    with _folder("disk full" in kinds) as (folder, disk):
        with installation_under_load(folder, ledger, chance, disk=disk, clock=clock) as site:
            rain = Rain(site)
            rain.start()
            clients = Clients(site.stack.address, ledger, submissions, seed)
            with clients.running(_IN_FLIGHT):
                schedule = _schedule(kinds, submissions, chance)
                for number, name in enumerate(schedule, 1):
                    clients.allow(submissions * number // len(schedule))
                    time.sleep(chance.uniform(0, _MOMENT_S))
                    result.struck.append(_strike(site, name, scale or Scale()))
                    _print_struck(result.struck[-1], ledger, out)
            rain.stop()
            result.repeated = rain.repeated
            result.broken = audit(site)
        if result.broken:
            _keep_logs(folder, seed, out)
    result.seconds = time.monotonic() - started
    return result


def _schedule(kinds: Sequence[str], submissions: int, chance: random.Random) -> list[str]:
    """All kinds in random order, so often that there are some submissions for each fault."""
    rounds = max(1, submissions // (_FOR_EACH * len(kinds)))
    return [name for _ in range(rounds) for name in chance.sample(kinds, len(kinds))]


def _strike(site: Site, name: str, scale: Scale) -> Struck:
    in_flight = site.ledger.in_flight()
    done = FAULTS[name](site, scale)
    ended = time.monotonic()
    in_flight += site.ledger.in_flight()
    while any(entry.finished_at is None for entry in in_flight):
        if time.monotonic() > ended + _GIVE_UP_S:
            break
        time.sleep(0.05)
    last = max((entry.finished_at or time.monotonic() for entry in in_flight), default=ended)
    return Struck(name, done, max(0.0, last - ended))


def _print_struck(struck: Struck, ledger: Ledger, out: TextIO) -> None:
    finished = sum(entry.finished_at is not None for entry in ledger.entries)
    print(
        f"{finished:4} finished  {struck.name:26} {struck.done:38} over after "
        f"{struck.recovery_s:5.1f} s",
        file=out,
        flush=True,
    )


def summarise(result: Result, out: TextIO = sys.stdout) -> None:
    """The run in a table and some lines."""
    entries = result.ledger.entries
    verdicts = Counter(entry.detail["verdict"] for entry in entries if entry.detail)
    attempts = Counter(entry.detail["attempt"] for entry in entries if entry.detail)
    print(f"\n{'fault':28}{'times':>6}{'median s':>10}{'slowest s':>11}", file=out)
    for name in dict.fromkeys(struck.name for struck in result.struck):
        seconds = [struck.recovery_s for struck in result.struck if struck.name == name]
        print(
            f"{name:28}{len(seconds):6}{percentile(seconds, 0.5):10.1f}{max(seconds):11.1f}",
            file=out,
        )
    recoveries = [struck.recovery_s for struck in result.struck]
    waited = [e.finished_at - e.accepted_at for e in entries if e.finished_at is not None]
    lines = {
        "seed": result.seed,
        "minutes": f"{result.seconds / 60:.1f}",
        "accepted": len(entries),
        "terminal": sum(entry.detail is not None for entry in entries),
        "verdicts": dict(verdicts),
        "attempts": dict(sorted(attempts.items())),
        "events said twice": result.repeated,
        "faults": len(result.struck),
        "recovery": f"p50 {percentile(recoveries, 0.5):.1f} s, p95 {result.recovery_p95_s:.1f} s, "
        f"most {max(recoveries):.1f} s",
        "from submit to verdict": f"p50 {percentile(waited, 0.5):.1f} s, "
        f"p95 {percentile(waited, 0.95):.1f} s",
        "broken promises": len(result.broken),
    }
    for name, value in lines.items():
        print(f"{name}: {value}", file=out)
    for line in result.broken:
        print(f"  {line}", file=out)


@contextmanager
def _folder(wanted: bool) -> Iterator[tuple[Path, bool]]:
    """A folder whose `data` is a small disk of its own, where that can be mounted."""
    folder = Path(tempfile.mkdtemp(prefix="chaos-"))
    data = folder / "data"
    data.mkdir(mode=0o700)
    options = f"size={_DISK_BYTES},mode=0700"
    mount = ["mount", "-t", "tmpfs", "-o", options, "chaos", str(data)]
    mounted = wanted and subprocess.run(mount, capture_output=True).returncode == 0
    try:
        yield folder, mounted
    finally:
        if mounted:
            subprocess.run(["umount", "--lazy", str(data)], check=True)
        shutil.rmtree(folder, ignore_errors=True)


def _keep_logs(folder: Path, seed: int, out: TextIO) -> None:
    kept = Path(tempfile.gettempdir()) / f"chaos-logs-{seed}"
    kept.mkdir(exist_ok=True)
    for log in (folder / "data").glob("*.log"):
        (kept / log.name).write_bytes(log.read_bytes())
    print(f"logs are in {kept}", file=out)
