"""`make soak`: honest and hostile work, mixed, for twenty minutes; what is used must not grow.

Exit status 0 if every verdict is right and neither memory, descriptors nor processes of the
service, the workers and Redis grew from the second fifth of the time to the last.
"""

import argparse
import os
import random
import shutil
import signal
import statistics
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from kernels.catalog import TASKS
from kernels.contract import Verdict
from tests.chaos import sources
from tests.chaos.clients import ask
from tests.chaos.ledger import Ledger
from tests.chaos.site import Site, installation_under_load
from tests.hostile.rows import rows
from tests.processes import Process, descendants, installation, queue_worker

_GROUPS = ("cheating", "faults", "forgery", "host", "snooping")
_HOSTILE_SHARE = 0.4
_IN_FLIGHT = 4
_SAMPLE_S = 5.0
_FEWEST_SAMPLES = 10
_PAGE = os.sysconf("SC_PAGE_SIZE")
_ALLOWED = {"MiB": (1.10, 32.0), "descriptors": (1.10, 10.0), "processes": (1.0, 1.0)}
"""Factor and number by which the median of the last fifth may pass that of the second."""


@dataclass
class Soak:
    """What was judged, and what was used meanwhile."""

    verdicts: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)
    used: dict[str, list[float]] = field(default_factory=lambda: {name: [] for name in _ALLOWED})

    def grown(self) -> Iterator[str]:
        """A sentence for everything of which more and more was used."""
        for name, samples in self.used.items():
            fifth = len(samples) // 5
            early = statistics.median(samples[fifth : 2 * fifth])
            late = statistics.median(samples[-fifth:])
            factor, number = _ALLOWED[name]
            if late > early * factor + number:
                yield f"{name}: {early:.0f} became {late:.0f}"


def usage(site: Site) -> dict[str, float]:
    """Of service, workers, fork servers and Redis: what lives as long as the installation."""
    lasting = list(_lasting(installation(site.stack)))
    pages, descriptors = 0, 0
    for process in lasting:
        try:
            pages += int(Path(f"/proc/{process.pid}/statm").read_text().split()[1])
            descriptors += len(os.listdir(f"/proc/{process.pid}/fd"))
        except OSError:
            continue  # It ended while we looked.
    return {
        "MiB": pages * _PAGE / (1 << 20),
        "descriptors": float(descriptors),
        "processes": float(len(lasting)),
    }


def _lasting(every: list[Process]) -> Iterator[Process]:
    """All but work horses and jails, which come and go with the jobs."""
    workers = queue_worker(every)
    servers = [process for process in every if process.runs("workers.jail.server")]
    parents = {process.pid for process in (*workers, *servers)}
    passing = {process.pid for process in descendants(list(parents))} - parents
    yield from (process for process in every if process.pid not in passing)


def work(site: Site, soak: Soak, deadline: float, seed: int) -> None:
    """One submission after the other, until the time is up."""
    chance = random.Random(seed)
    hostile = [row for group in _GROUPS for row in rows(group)]
    while time.monotonic() < deadline:
        if chance.random() < _HOSTILE_SHARE:
            row = chance.choice(hostile)
            _judge(site, soak, row.path.stem, "softmax", row.source, "H100", row.verdicts)
        else:
            given = sources.draw(chance)
            right = frozenset({given.expected})
            _judge(site, soak, "honest", "double", given.source, given.device.value, right)


def _judge(
    site: Site,
    soak: Soak,
    name: str,
    task: str,
    source: str,
    device: str,
    right: frozenset[Verdict],
) -> None:
    body = {"task": task, "source": source, "device": device}
    address = f"{site.stack.address}/api/v1/submissions"
    answer = ask(address, body)
    while answer is not None and answer["stage"] != "finished":
        answer = ask(f"{address}/{answer['id']}?wait=20")
    if answer is None:
        soak.wrong.append(f"{name}: the service did not answer")
        return
    soak.verdicts[answer["verdict"]] += 1
    if answer["verdict"] not in right:
        soak.wrong.append(f"{name}: {answer['verdict']}: {answer['reason']}")


def both_tasks(folder: Path) -> Path:
    """A catalogue of the quick task and the one that the hostile submissions are for."""
    tasks = folder / "tasks"
    shutil.copytree(Path(__file__).parent / "tasks", tasks)
    shutil.copytree(TASKS / "softmax", tasks / "softmax")
    return tasks


def run(minutes: float, seed: int) -> Soak:
    """Mixed work on an installation of its own."""
    soak = Soak()
    with tempfile.TemporaryDirectory(prefix="soak-", ignore_cleanup_errors=True) as folder:
        settings = {"KERNELJUDGE_TASKS_DIR": str(both_tasks(Path(folder)))}
        with installation_under_load(
            Path(folder), Ledger(), random.Random(seed), disk=False, clock=False, settings=settings
        ) as site:
            deadline = time.monotonic() + max(60 * minutes, _FEWEST_SAMPLES * _SAMPLE_S)
            threads = [
                threading.Thread(target=work, args=(site, soak, deadline, seed + number))
                for number in range(_IN_FLIGHT)
            ]
            for thread in threads:
                thread.start()
            while time.monotonic() < deadline:
                time.sleep(_SAMPLE_S)
                for name, value in usage(site).items():
                    soak.used[name].append(value)
            for thread in threads:
                thread.join()
    return soak


def main() -> int:
    """Parse, run, print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--minutes", type=float, default=20)
    parser.add_argument("--seed", type=int, default=random.randrange(1_000_000))
    arguments = parser.parse_args()
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # so that all is put away
    soak = run(arguments.minutes, arguments.seed)
    print(f"seed {arguments.seed}, {sum(soak.verdicts.values())} judged: {dict(soak.verdicts)}")
    for name, samples in soak.used.items():
        fifth = max(1, len(samples) // 5)
        medians = [
            f"{statistics.median(samples[start : start + fifth]):.0f}"
            for start in range(0, fifth * 5, fifth)
        ]
        print(f"{name}, by fifths of the time: {', '.join(medians)}")
    problems = [*soak.grown(), *soak.wrong]
    print("\n".join(problems) or "nothing grew, and every verdict was right")
    return 1 if problems else 0


if __name__ == "__main__":
    raise SystemExit(main())
