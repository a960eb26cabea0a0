"""The command `kerneljudge`: looks at what the judge keeps, without a service or a GPU."""

import argparse
import sys
from pathlib import Path

from kernels.contract import Bundle, PlanRefused
from kernels.contract.printing import plan_text


def main(arguments: list[str] | None = None) -> int:
    """Run one command; 0 if it did its work, 1 with a message if it could not."""
    options = _parse(arguments)
    try:
        bundle = Bundle.unpack(options.file.read_bytes())
    except (OSError, PlanRefused) as error:
        sys.stderr.write(f"{options.file} is no launch plan that can be read: {error}\n")
        return 1
    sys.stdout.write(plan_text(bundle.plan))
    return 0


def _parse(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="kerneljudge", description=__doc__)
    subjects = parser.add_subparsers(required=True, metavar="plan")
    plan = subjects.add_parser("plan", help="launch plans").add_subparsers(required=True)
    show = plan.add_parser("show", help="print a launch plan")
    show.add_argument(
        "file", type=Path, metavar="FILE", help="as /api/v1/submissions/ID/plan gives it"
    )
    return parser.parse_args(arguments)


if __name__ == "__main__":
    raise SystemExit(main())
