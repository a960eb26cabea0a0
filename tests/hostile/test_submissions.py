"""Every hostile submission comes to its verdict on the whole stack, and to nothing else."""

import json

import pytest

from kernels.contract import Verdict
from tests.hostile.rows import FOLDER, GROUPS, HONEST, Row, rows
from tests.hostile.trial import Trial

ROWS = [(group, row) for group in GROUPS for row in rows(group)]
MARKUP = ("<script>alert", "<img src=x", "</textarea><img")


def name_of(value: object) -> str:
    return value.path.stem if isinstance(value, Row) else str(value)


@pytest.mark.parametrize(("group", "row"), ROWS, ids=name_of)
def test_a_row_gets_its_verdict(trial: Trial, group: str, row: Row) -> None:
    detail = trial.group(group)[row]
    assert detail["verdict"] in row.verdicts, detail["reason"]
    assert detail["attempt"] == 1, "the judge took it for a fault of its own"
    assert "LEAKED" not in detail["report"]["log"]
    assert trial.secret not in json.dumps(detail)
    page = trial.page(detail)
    assert trial.secret not in page
    assert not [markup for markup in MARKUP if markup in page]


@pytest.mark.parametrize("group", GROUPS)
def test_a_group_leaves_nothing_behind(trial: Trial, group: str) -> None:
    trial.group(group)
    assert trial.strays() == []
    assert trial.scratch_left() == []
    assert trial.files_with_the_secret() == []
    # A source that was not built before, or its plan would be taken from the cache.
    honest = trial.judged(f"{HONEST}# after {group}")
    assert (honest["verdict"], honest["reason"], honest["attempt"]) == (Verdict.CHECKED, "", 1)


def test_a_second_run_finds_no_trace_of_the_first(trial: Trial) -> None:
    (row,) = [row for row in rows("snooping") if row.path.stem == "leaves_traces"]
    for run in range(2):
        detail = trial.judged(f"{row.source}# run {run}")
        assert detail["verdict"] == Verdict.CHECKED, detail["reason"]
        assert "LEAKED" not in detail["report"]["log"]


def test_a_forger_cannot_condemn_a_rivals_plan(trial: Trial) -> None:
    """Plans are public: one may be sent again with intermediate code that makes another cubin."""
    rival = HONEST.replace("BLOCK=2048", "BLOCK=1024")
    forger = rival + (FOLDER / "submissions" / "condemns_a_rival.py").read_text()
    detail = trial.judged(forger)
    assert (detail["verdict"], detail["report"]["rebuilt"]) == (Verdict.REJECTED, "different")
    detail = trial.judged(rival)
    assert (detail["verdict"], detail["report"]["rebuilt"]) == (Verdict.CHECKED, "identical")
