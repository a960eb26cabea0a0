"""Entries near the top of a board are measured in further processes before their rank is final.

What differs between processes, such as where memory lies, no number of rounds in one process shows:
see docs/decisions/0015.
"""

import secrets
from collections.abc import Sequence

from sqlalchemy.orm import Session

from app.store import board, reruns, submissions
from app.store.board import BoardName, Standing
from kernels.contract.rerun import RerunKind

SITTINGS = 3
"""Of an entry near the top, the first one included."""

_USER = ""
"""Nobody asked, so nobody is charged."""


def confirm(session: Session, name: BoardName, top: int, limit: int) -> list[str]:
    """Ask for one more sitting of each entry that needs one; the reruns, at most up to `limit`.

    Called whenever an entry of a board has changed, so that the next sitting follows the last, and
    submissions take their turns between them.
    """
    found = []
    for entry in _unsure(board.top(session, name, 2 * top), top):
        row = submissions.by_id(session, entry.submission)
        if row is None or len(reruns.unfinished(session)) >= limit:
            continue
        reruns.lock_submission(session, row)
        busy = reruns.unfinished_of(session, row, RerunKind.MEASURE) is not None
        if not busy and reruns.plan_size(session, [row]) is not None:
            rerun = f"r{secrets.token_hex(8)}"
            reruns.insert(session, rerun, [row], RerunKind.MEASURE, 1, _USER)
            session.flush()
            found.append(rerun)
    return found


def _unsure(entries: Sequence[Standing], top: int) -> list[Standing]:
    """Those with too few sittings whose interval reaches the first `top`; none without a rival."""
    if len(entries) < 2 or not top:
        return []
    last = entries[min(top, len(entries)) - 1]
    return [entry for entry in entries if entry.sittings < SITTINGS and entry.low <= last.high]
