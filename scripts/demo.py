"""Starts the whole judge on this machine, judges a right and a wrong softmax, and keeps serving.

`python -m scripts.demo --once` ends after the two verdicts.
"""

import argparse
import signal
import sys
import time
from pathlib import Path

from app.settings import Settings
from scripts.stack import ROOT, NotReady, Stack
from workers.settings import Settings as WorkerSettings

SOFTMAX = ROOT / "kernels" / "tasks" / "softmax"
SAMPLES = {
    "a right softmax": (SOFTMAX / "solutions" / "fused.py", {"accepted", "checked"}),
    "a wrong softmax": (
        SOFTMAX / "verdicts" / "wrong_answer" / "half_precision.py",
        {"wrong_answer"},
    ),
}
_JUDGED_S = 180
_WITHOUT_ACCOUNTS = (
    "the demo submits without an account: unset KERNELJUDGE_ACCOUNTS, "
    "or start `python -m app` and `python -m workers` yourself"
)


def main() -> int:
    """0 if both samples got the verdict they must get."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--once", action="store_true", help="end after the two verdicts")
    once = parser.parse_args().once
    for number in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) is not signal.SIG_IGN:  # as nohup leaves it
            signal.signal(number, lambda *_: sys.exit(0))
    try:
        settings = Settings.load()
        WorkerSettings.load()
    except ValueError as error:
        return _refuse(error)
    if settings.has_accounts:
        return _refuse(NotReady(_WITHOUT_ACCOUNTS))
    try:
        with Stack(settings.data_dir, settings.port) as stack:
            return serve(stack, once)
    except NotReady as error:
        return _refuse(error)
    except KeyboardInterrupt:
        return 0


def _refuse(error: Exception) -> int:
    print(f"the judge cannot start: {error}", file=sys.stderr)
    return 1


def serve(stack: Stack, once: bool) -> int:
    """Judge the samples; unless `once`, go on until interrupted."""
    print("starting the service and the workers, which takes some seconds", flush=True)
    health = stack.wait_until_ready()
    for worker in health["workers"]:
        print(f"worker {worker['name']}: {worker['gpu'] or 'builds and checks, no GPU'}")
    for banner in health["banners"]:
        print(f"note: {banner}", flush=True)
    right = [judge(stack, name, *sample) for name, sample in SAMPLES.items()]
    if not once:
        print(f"\nserving at {stack.address} (Ctrl-C ends it)", flush=True)
    while not once:
        stack.keep_alive()
        time.sleep(1)
    return 0 if all(right) else 1


def judge(stack: Stack, name: str, path: Path, expected: set[str]) -> bool:
    """Submit a file and print its verdict; whether it is one of those expected."""
    detail = stack.submit("softmax", path.read_text(), wait=_JUDGED_S)
    print(f"\n{name} ({path.relative_to(ROOT)}): {detail['verdict'] or 'not finished'}")
    if detail["reason"]:
        print(f"  {detail['reason']}")
    if detail["score"] is not None:
        print(f"  {detail['score']:.2f} microseconds, geometric mean of the benchmark cases")
    print(f"  {stack.address}/submissions/{detail['id']}", flush=True)
    return detail["verdict"] in expected


if __name__ == "__main__":
    raise SystemExit(main())
