"""Sources that strain whoever reads them: parsers, pages and listings."""

from typing import Any

import pytest

from kernels.contract import Verdict
from tests.hostile.rows import ALL, HONEST
from tests.hostile.trial import Trial

FAILS = frozenset({Verdict.BUILD_ERROR})
PASSES = frozenset({Verdict.CHECKED})
HARDLY = FAILS | {Verdict.TIMEOUT, Verdict.REJECTED}
EVERY: dict[str, tuple[str, frozenset[Verdict]]] = {
    "nested parentheses": ("(" * 3000 + ")" * 3000, FAILS),
    "nested calls": ("f(" * 20_000 + ")" * 20_000, FAILS),
    "unary minus": ("x = " + "-" * 50_000 + "1", HARDLY),
    "long sum": ("x = 1" + "+1" * 100_000, HARDLY),
    "attribute chain": ("x" + ".x" * 60_000, HARDLY),
    "comparison chain": ("x = 1" + "<1" * 60_000, HARDLY),
    "nested blocks": ("".join(" " * i + "if 1:\n" for i in range(120)), FAILS),
    "many digits": ("x = " + "9" * 200_000, FAILS),
    "many hexadecimal digits": (HONEST + "x = 0x" + "f" * 200_000, PASSES),
    "power of powers": ("x = 9**9**9**9", HARDLY),
    "large constant": ("x = 'a' * 2**40", HARDLY),
    "many lines": (HONEST + "\n" * 250_000, PASSES),
    "one long line": (HONEST + "# " + "x" * 250_000, PASSES),
    "lines of other systems": (HONEST.replace("\n", "\r\n"), PASSES),
    "form feeds": (HONEST.replace("\n\n", "\n\f\n\v\x1c\x85\n"), FAILS),
    "no end of line": (HONEST.rstrip(), PASSES),
    "byte order mark": ("\ufeff" + HONEST, PASSES | FAILS),
    "another encoding": ("# -*- coding: utf-7 -*-\n" + HONEST, PASSES),
    "unknown encoding": ("# -*- coding: nothing -*-\n" + HONEST, PASSES | FAILS),
    "text that turns around": (HONEST + "# \u202e\u2066 accepted \u2069\u202c", PASSES),
    "invisible letters": (HONEST.replace("solve", "so\u200blve"), FAILS),
    "wide letters": (
        HONEST.replace("def solve", "def \N{FULLWIDTH LATIN SMALL LETTER S}olve"),
        PASSES,
    ),
    "markup": (HONEST + "# </pre></textarea><script>alert(1)</script>{{7*7}}", PASSES),
    "half a format": ("raise ValueError('%s %(x)s {0} {x!r}')", FAILS),
    "name of the module": ("__name__ = __file__ = __builtins__ = None\n" + HONEST, PASSES | FAILS),
    "no module": ("import sys\nsys.modules.clear()\n" + HONEST, HARDLY | PASSES),
    "own name": (HONEST + "import submission\nassert submission.solve is solve\n", PASSES),
}
FEW = (
    "nested parentheses",
    "unary minus",
    "attribute chain",
    "many digits",
    "many hexadecimal digits",
    "many lines",
    "another encoding",
    "text that turns around",
    "invisible letters",
    "no module",
)
SOURCES = EVERY if ALL else {name: EVERY[name] for name in FEW}


@pytest.fixture(scope="module")
def answers(trial: Trial) -> dict[str, dict[str, Any]]:
    """All of them, submitted at once."""
    return trial.sources({name: source for name, (source, _) in SOURCES.items()})


@pytest.mark.parametrize("name", SOURCES)
def test_a_source_gets_its_verdict(
    trial: Trial, answers: dict[str, dict[str, Any]], name: str
) -> None:
    detail = answers[name]
    assert detail["verdict"] in SOURCES[name][1], detail["reason"]
    assert detail["attempt"] == 1
    page = trial.page(detail)
    assert "<script>alert" not in page
    assert "\u202e" not in page, "text of a submission must not turn the page around"
