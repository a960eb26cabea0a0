"""The one function that ranks a board."""

from bisect import bisect_left
from collections import Counter
from collections.abc import Sequence

from app.schemas import BoardEntry
from app.store.board import Standing


def rank(rows: Sequence[Standing]) -> tuple[BoardEntry, ...]:
    """Entries for rows sorted by score; the ranks of a board's top are those of the whole.

    An entry is surely faster than another if its interval ends below where the other's begins.
    A rank is one more than the number of entries that are surely faster, and never better than
    that of an entry with a better score: a wide interval must not pay.
    """
    ranks = ranks_of([(row.low, row.high) for row in rows])
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


def ranks_of(intervals: Sequence[tuple[float, float]]) -> list[int]:
    """Ranks for lower and upper ends of what is sorted from the best on; less is better."""
    ends = sorted(high for _, high in intervals)
    ranks: list[int] = []
    best = 1
    for low, _ in intervals:
        best = max(best, 1 + bisect_left(ends, low))
        ranks.append(best)
    return ranks
