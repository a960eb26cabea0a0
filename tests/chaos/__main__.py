"""`make chaos`: at least 300 submissions while everything that can fail does.

Exit status 0 if every accepted submission ended once, with the verdict that it would have had
without faults, and 95 % of the faults were over within a minute.
"""

import argparse
import random
import signal

from tests.chaos.faults import FAULTS, Scale
from tests.chaos.run import run, summarise


def main() -> int:
    """Parse, run, print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--submissions", type=int, default=300)
    parser.add_argument("--seed", type=int, default=random.randrange(1_000_000))
    parser.add_argument("--fault", action="append", choices=FAULTS, help="only these")
    arguments = parser.parse_args()
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # so that all is put away
    print(f"seed {arguments.seed}", flush=True)
    kinds = tuple(arguments.fault or FAULTS)
    result = run(arguments.submissions, arguments.seed, kinds, Scale())
    summarise(result)
    return 0 if result.held else 1


if __name__ == "__main__":
    raise SystemExit(main())
