"""Places over several tasks, from boards alone."""

from datetime import UTC, datetime
from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st

from app import ranking
from app.contests.schemas import ContestBoard, Total
from app.contests.standings import totals
from app.store.board import Standing
from kernels.contract import HARNESS_VERSION

Score = tuple[str, float, float]
"""Entrant, score and relative half width of its interval."""


def board(task: str, *scores: Score) -> ContestBoard:
    rows = [
        Standing(name, f"{task}-{name}", s, s * (1 - w), s * (1 + w), 1, datetime.now(UTC))
        for name, s, w in sorted(scores, key=lambda score: score[1])
    ]
    return ContestBoard(
        task=task, task_version=1, harness=HARNESS_VERSION, entries=ranking.rank(rows)
    )


def places(*boards: ContestBoard) -> list[tuple[int, str, float]]:
    return [(t.rank, t.entrant, round(t.points, 6)) for t in totals(boards)]


def test_points_are_the_best_score_over_ones_own() -> None:
    first = board("one", ("ada", 10, 0.001), ("bob", 20, 0.001), ("eve", 40, 0.001))
    second = board("two", ("bob", 50, 0.001), ("ada", 100, 0.001))
    assert places(first, second) == [(1, "ada", 1.5), (1, "bob", 1.5), (3, "eve", 0.25)]
    by_task = {total.entrant: total.by_task for total in totals([first, second])}
    assert by_task["eve"] == {"one": 0.25}


def test_who_is_not_surely_better_is_level() -> None:
    narrow = board("one", ("ada", 10, 0.001), ("bob", 10.1, 0.001))
    wide = board("one", ("ada", 10, 0.02), ("bob", 10.1, 0.02))
    assert [rank for rank, *_ in places(narrow)] == [1, 2]
    assert [rank for rank, *_ in places(wide)] == [1, 1]
    assert [total.tied for total in totals([wide])] == [True, True]


def test_many_small_leads_make_a_sure_one() -> None:
    """Of each task ada is fastest, surely in one; a wide interval elsewhere hides it again."""
    sure = board("one", ("ada", 10, 0.001), ("bob", 11, 0.001))
    level = board("two", ("ada", 10, 0.001), ("bob", 10.001, 0.001))
    unsure = board("two", ("ada", 10, 0.2), ("bob", 10.001, 0.2))
    assert [rank for rank, *_ in places(sure, level)] == [1, 2]
    assert [rank for rank, *_ in places(sure, unsure)] == [1, 1]


def test_nobody_has_places_without_boards() -> None:
    assert totals([]) == ()
    assert totals([board("one")]) == ()


_scores = st.dictionaries(
    st.sampled_from("abcdef"), st.tuples(st.floats(1, 1000), st.floats(0, 0.3)), max_size=6
)


@settings(max_examples=50, deadline=None)
@given(st.lists(_scores, max_size=4))
def test_places_are_fair(drawn: list[dict[str, tuple[float, float]]]) -> None:
    boards = [
        board(f"t{number}", *((name, score, width) for name, (score, width) in scores.items()))
        for number, scores in enumerate(drawn)
    ]
    found = totals(boards)
    assert {total.entrant for total in found} == {name for scores in drawn for name in scores}
    for total in found:
        assert total.low <= total.points <= total.high
        assert total.points <= len(total.by_task) + 1e-9
    for better, worse in pairwise(found):
        assert better.points >= worse.points
        assert better.rank <= worse.rank
    for total in found:
        assert total.rank >= 1 + _surely_better(total, found)


def _surely_better(total: Total, found: tuple[Total, ...]) -> int:
    return sum(other.low > total.high for other in found)
