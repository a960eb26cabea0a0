"""Starts the whole judge on this machine, judges a right and a wrong softmax, and keeps serving.

`python scripts/demo.py --once` ends after the two verdicts.
"""

import argparse
import json
import os
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
SOFTMAX = ROOT / "kernels" / "tasks" / "softmax"
SAMPLES = {
    "a right softmax": SOFTMAX / "solutions" / "fused.py",
    "a wrong softmax": SOFTMAX / "verdicts" / "wrong_answer" / "no_max.py",
}
READY_S = 120
JUDGED_S = 180


@dataclass
class Part:
    """One of the two programs that make an installation, started again whenever it ends."""

    module: str
    process: subprocess.Popen[bytes] | None = None

    def keep_alive(self) -> None:
        if self.process is None or self.process.poll() is not None:
            log = (data_dir() / f"{self.module}.log").open("ab")
            self.process = subprocess.Popen(
                [sys.executable, "-m", self.module], cwd=ROOT, stdout=log, stderr=log
            )

    def stop(self) -> None:
        if self.process is not None:
            self.process.terminate()
            self.process.wait()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--once", action="store_true", help="end after the two verdicts")
    once = parser.parse_args().once
    data_dir().mkdir(parents=True, exist_ok=True)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    parts = [Part("app"), Part("workers")]
    try:
        wait_until_ready(parts)
        right = all([judge(name, path) for name, path in SAMPLES.items()])
        print(f"\nthe judge serves at {address()}")
        while not once:
            for part in parts:
                part.keep_alive()
            time.sleep(1)
        return 0 if right else 1
    except KeyboardInterrupt:
        return 0
    finally:
        for part in reversed(parts):
            part.stop()


def data_dir() -> Path:
    """Where everything that outlives the demo lies."""
    return Path(os.environ.get("KERNELJUDGE_DATA_DIR", ROOT / "var"))


def address() -> str:
    """Where the pages are."""
    return f"http://127.0.0.1:{os.environ.get('KERNELJUDGE_PORT', '8000')}"


def wait_until_ready(parts: list[Part]) -> None:
    """Until pages and workers answer; SystemExit with the end of the logs if they do not."""
    deadline = time.monotonic() + READY_S
    while time.monotonic() < deadline:
        for part in parts:
            if part.process is not None and part.process.poll() not in (None, 0):
                raise SystemExit(explain(part))
            part.keep_alive()
        health = ask("/api/v1/health")
        if health and any(worker["state"] == "idle" for worker in health["workers"]):
            for worker in health["workers"]:
                print(f"worker {worker['name']}: {worker['gpu'] or 'no GPU'}")
            for banner in health["banners"]:
                print(f"note: {banner}")
            return
        time.sleep(0.2)
    raise SystemExit("the judge did not get ready:\n" + "\n".join(explain(part) for part in parts))


def explain(part: Part) -> str:
    """The end of a part's log."""
    log = data_dir() / f"{part.module}.log"
    lines = log.read_text(errors="replace").splitlines() if log.exists() else []
    return f"--- the end of {log}\n" + "\n".join(lines[-20:])


def judge(name: str, path: Path) -> bool:
    """Submit a file, print its verdict; whether the verdict is the one the file must get."""
    body = {"task": "softmax", "source": path.read_text()}
    detail = ask(f"/api/v1/submissions?wait={JUDGED_S}", body)
    if detail is None or detail["verdict"] is None:
        print(f"{name}: no verdict within {JUDGED_S} s")
        return False
    print(f"\n{name} ({path.relative_to(ROOT)}): {detail['verdict']}")
    if detail["reason"]:
        print(f"  {detail['reason']}")
    if detail["score"] is not None:
        print(f"  {detail['score']:.2f} microseconds (geometric mean of the benchmark cases)")
    print(f"  {address()}/submissions/{detail['id']}")
    expected = {"wrong_answer"} if "verdicts" in path.parts else {"accepted", "checked"}
    return detail["verdict"] in expected


def ask(path: str, body: dict[str, str] | None = None) -> dict[str, Any] | None:
    """A JSON answer, or None while nobody answers."""
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(
        address() + path, data=data, headers={"Content-Type": "application/json"}
    )
    try:
        with urllib.request.urlopen(request, timeout=JUDGED_S + 30) as answer:
            found: dict[str, Any] = json.load(answer)
            return found
    except urllib.error.HTTPError as error:
        print(error.read().decode(errors="replace"))
        return None
    except (urllib.error.URLError, ConnectionError, TimeoutError):
        return None


if __name__ == "__main__":
    raise SystemExit(main())
