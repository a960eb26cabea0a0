"""Errors can always be sent."""

from app.errors import NotFound


def test_half_a_surrogate_pair_can_be_told_of() -> None:
    problem = NotFound("there is no \ud800", "Try \udfff again.").problem
    assert problem.detail == "there is no ?"
    assert problem.model_dump_json()
