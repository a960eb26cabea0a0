"""The one function that ranks a board."""

from collections import Counter
from collections.abc import Sequence

from app.schemas import BoardEntry
from app.store.board import Standing


def rank(rows: Sequence[Standing]) -> tuple[BoardEntry, ...]:
    """Ranks for rows sorted by score.

    An entry shares the rank of the fastest entry before it whose interval overlaps its own, if
    that one leads a rank. Overlap is taken with the leader alone, so that a long chain of
    neighbours that overlap pairwise does not tie the first with the last.
    """
    ranks = _ranks(rows)
    shared = Counter(ranks)
    return tuple(
        BoardEntry(
            rank=place,
            tied=shared[place] > 1,
            behind=row.score / rows[0].score,
            **row._asdict(),
        )
        for place, row in zip(ranks, rows, strict=True)
    )


def _ranks(rows: Sequence[Standing]) -> list[int]:
    ranks: list[int] = []
    leader = 0
    for index, row in enumerate(rows):
        if row.low > rows[leader].high:
            leader = index
        ranks.append(leader + 1)
    return ranks
