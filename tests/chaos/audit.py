"""What must be true at the end, read from the database, from Redis and from the machine."""

import sqlite3
import time
from typing import Any

import redis

from app.events import DEAD_LETTERS
from kernels.contract import STREAM, Verdict
from tests.chaos.clients import ask
from tests.chaos.ledger import Entry
from tests.chaos.site import Site
from tests.processes import descendants

_QUIET_WITHIN_S = 60
_SETTLE_S = 3.0


def audit(site: Site) -> list[str]:
    """Every broken promise, in a sentence each."""
    _wait_until_quiet(site)
    time.sleep(_SETTLE_S)  # for a late word that would change something
    broken = [line for entry in site.ledger.entries for line in _entry(site, entry)]
    return [*broken, *_database(site), *_left_behind(site)]


def _entry(site: Site, entry: Entry) -> list[str]:
    if entry.detail is None:
        return [f"{entry.name} was accepted and is not finished"]
    now = ask(f"{site.stack.address}/api/v1/submissions/{entry.name}")
    said = Verdict(entry.detail["verdict"])
    broken = []
    if said not in entry.allowed:
        broken.append(
            f"{entry.name} is {said.value}, not {entry.work.expected.value}: "
            f"{entry.detail['reason']} (attempt {entry.detail['attempt']})"
        )
    if now is None or _end(now) != _end(entry.detail):
        broken.append(f"{entry.name} changed after its end")
    return broken


def _end(detail: dict[str, Any]) -> Any:
    """What must never change; lines of the log may still come, but no second end."""
    ends = [stage["id"] for stage in detail["stages"] if stage["stage"] == "finished"]
    return detail["verdict"], detail["attempt"], detail["finished_at"], detail["report"], ends


def _database(site: Site) -> list[str]:
    database = sqlite3.connect(site.stack.data_dir / "kerneljudge.db", timeout=30)

    def count(query: str) -> int:
        return int(database.execute(query).fetchone()[0])

    found = {
        "submissions in the database": count("SELECT count(*) FROM submissions"),
        "finished ones": count("SELECT count(*) FROM submissions WHERE stage = 'finished'"),
        "reports": count("SELECT count(*) FROM reports"),
        "ends": count(
            "SELECT count(*) FROM stages JOIN submissions ON number = submission "
            "WHERE stages.stage = 'finished' AND stages.worker = ''"
        ),
    }
    whole = database.execute("PRAGMA integrity_check").fetchone()[0]
    database.close()
    accepted = len(site.ledger.entries)
    broken = [f"{accepted} accepted, but {n} {what}" for what, n in found.items() if n != accepted]
    return broken + ([] if whole == "ok" else [f"the database is damaged: {whole}"])


def _left_behind(site: Site) -> list[str]:
    broken = []
    refused = site.redis.llen(DEAD_LETTERS)
    if refused:
        broken.append(f"{refused} events were refused")
    leases = [key for key in site.redis.scan_iter("lease:*") if site.redis.get(key) != b"cancelled"]
    if leases:
        broken.append(f"holds are left: {leases}")
    roots = [part.process.pid for part in site.stack.parts if part.process is not None]
    servers = [p.pid for p in descendants(roots) if p.runs("workers.jail.server")]
    jails = [p.pid for p in descendants(servers) if p.pid not in servers]
    if jails:
        broken.append(f"jailed processes are left: {jails}")
    mounts = site.stack.data_dir / "run" / "root"
    with open("/proc/self/mountinfo") as table:
        broken += [f"a mount is left: {line}" for line in table if str(mounts) in line]
    return broken


def _wait_until_quiet(site: Site) -> None:
    """Until nothing is queued, held or unread: jobs that were delivered twice still run."""
    deadline = time.monotonic() + _QUIET_WITHIN_S
    while time.monotonic() < deadline:
        try:
            busy = site.redis.xlen(STREAM) or site.redis.llen("rq:queue:build")
            held = [k for k in site.redis.scan_iter("lease:*") if site.redis.ttl(k) <= 10]
            if not busy and not held:
                return
        except redis.RedisError:
            pass
        time.sleep(0.2)
