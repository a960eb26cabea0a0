"""Submissions are found by the beginning of their names."""

import pytest

from app.api.naming import full_name
from app.errors import Conflict
from app.main import Parts
from app.store import submissions
from app.store.submissions import Origin
from tests.app.judging import submission


@pytest.fixture
def named(parts: Parts) -> Parts:
    with parts.store.write() as session:
        for name in ("0123456789abcdef", "0123456789ffffff", "fedcba9876543210", "beef"):
            given = submission().model_copy(update={"id": name})
            submissions.insert(session, given, Origin("ada", None, ""))
    return parts


@pytest.mark.parametrize(
    ("short", "full"),
    [
        ("fedc", "fedcba9876543210"),
        ("0123456789a", "0123456789abcdef"),
        ("0123456789abcdef", "0123456789abcdef"),
        ("beef", "beef"),
        ("fed", "fed"),
        ("%dcba", "%dcba"),
        ("9999", "9999"),
    ],
)
def test_enough_of_a_name_will_do(named: Parts, short: str, full: str) -> None:
    assert full_name(named.service, short) == full


def test_what_is_not_enough_is_said_with_the_choice(named: Parts) -> None:
    with pytest.raises(Conflict, match="several submissions begin with '0123'") as refused:
        full_name(named.service, "0123")
    assert refused.value.next_step == "Choose one: 0123456789ffffff, 0123456789abcdef."
