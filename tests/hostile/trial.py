"""Submits hostile rows to an installation and looks at what they leave behind."""

import os
import time
import urllib.request
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

from scripts.stack import Stack
from tests.hostile.rows import Row, rows
from tests.processes import Process, descendants, process_table

Key = TypeVar("Key")
SECRET = "KERNELJUDGE_TEST_SECRET"
_JAIL_UIDS = range(60_100, 60_200)
_AT_ONCE = 8
"""More than there are builders: something always waits."""
_ENDS_WITHIN_S = 300
_GONE_WITHIN_S = 15


class Trial:
    """Rows are submitted group by group, each group once and side by side."""

    def __init__(self, stack: Stack, secret: str) -> None:
        self.stack = stack
        self.secret = secret
        self._answers: dict[str, dict[Row, dict[str, Any]]] = {}

    def group(self, name: str) -> dict[Row, dict[str, Any]]:
        """The finished submissions of a group."""
        if name not in self._answers:
            group = {row: row.source for row in rows(name)}
            self._answers[name] = self.sources(group)
        return self._answers[name]

    def sources(self, wanted: dict[Key, str]) -> dict[Key, dict[str, Any]]:
        """Sources, some of them submitted at once, when all are finished."""
        with ThreadPoolExecutor(_AT_ONCE) as pool:
            return dict(zip(wanted, pool.map(self.judged, wanted.values()), strict=True))

    def judged(self, source: str) -> dict[str, Any]:
        """A source, once it is finished."""
        return self.stack.submit("softmax", source, wait=_ENDS_WITHIN_S)

    def page(self, detail: dict[str, Any]) -> str:
        """The page of a submission."""
        address = f"{self.stack.address}/submissions/{detail['id']}"
        with urllib.request.urlopen(address, timeout=60) as answer:
            page: str = answer.read().decode()
            return page

    def strays(self) -> list[Process]:
        """Jailed processes, once those that are about to end had the time for it."""
        deadline = time.monotonic() + _GONE_WITHIN_S
        while (found := list(self._jailed())) and time.monotonic() < deadline:
            time.sleep(0.2)
        return found

    def _jailed(self) -> Iterator[Process]:
        """What the installation's fork servers started, and what no fork server answers for."""
        roots = [part.process.pid for part in self.stack.parts if part.process is not None]
        servers = [p.pid for p in descendants(roots) if p.runs("workers.jail.server")]
        yield from (p for p in descendants(servers) if p.pid not in servers)
        every = [p for p in process_table() if p.runs("workers.jail.server")]
        answered = {p.pid for p in descendants([p.pid for p in every])}
        for process in process_table():
            if process.pid not in answered and _uid(process.pid) in _JAIL_UIDS:
                yield process

    def files_with_the_secret(self) -> list[str]:
        """Files of the installation (database, Redis, logs) that hold it."""
        found = []
        for folder, _, names in os.walk(self.stack.data_dir):
            for name in names:
                path = os.path.join(folder, name)
                if os.path.isfile(path):
                    with open(path, "rb") as file:
                        if self.secret.encode() in file.read():
                            found.append(path)
        return found

    def scratch_left(self) -> list[str]:
        """Mounts and folders of jails that are still there."""
        root = self.stack.data_dir / "run" / "root"
        with open("/proc/self/mountinfo") as mounts:
            mounted = [line for line in mounts if str(root) in line]
        return mounted + ([str(path) for path in root.iterdir()] if root.exists() else [])


def _uid(pid: int) -> int:
    try:
        return os.stat(f"/proc/{pid}").st_uid
    except OSError:
        return -1  # It ended while we looked.
