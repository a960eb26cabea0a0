"""Coverage-guided fuzzing of everything that reads hostile bytes: `make fuzz SECONDS=60`.

Ends with the first input on which a reader raises or takes longer than ten seconds. That input is
left in `tests/fuzz/cases`, where `make test` tries it again for ever.
"""

import argparse
import sys
import tempfile
from pathlib import Path

import atheris

CASES = Path(__file__).parent / "cases"
_READERS = ["kernels.contract", "workers.building", "workers.checking", "workers.reports"]
_LARGEST = 200_000

with atheris.instrument_imports(include=[*_READERS, "workers.kernel_reports"]):
    import kernels.contract  # noqa: F401  instrumented only if nobody imported it before
    from tests.fuzz import mutation, targets


def _mutate(data: bytes, most: int, seed: int) -> bytes:
    return mutation.mutate(data, most, seed, atheris.Mutate)


def main() -> None:
    """Fuzz for some seconds; libFuzzer ends the process, with 0 if nothing was found."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=int, default=60)
    parser.add_argument("--seed", type=int, default=0, help="0 draws one, and prints it")
    parser.add_argument("--corpus", type=Path, help="folder that keeps what was found new")
    arguments = parser.parse_args()
    corpus = arguments.corpus or Path(tempfile.mkdtemp(prefix="fuzz-"))
    corpus.mkdir(parents=True, exist_ok=True)
    for number, seed in enumerate(targets.seeds()):
        (corpus / f"seed-{number}").write_bytes(seed)
    options = {
        "max_total_time": arguments.seconds,
        "max_len": _LARGEST,
        "timeout": 10,
        "rss_limit_mb": 4096,
        "seed": arguments.seed,
        "artifact_prefix": f"{CASES}/",
        "print_final_stats": 1,
    }
    words = [sys.argv[0], *(f"-{name}={value}" for name, value in options.items()), str(corpus)]
    atheris.Setup(words, targets.run, custom_mutator=_mutate)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
