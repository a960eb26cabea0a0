"""What is kept is made once for each version."""

from app.kept import Kept


def test_a_thing_is_made_once_for_each_version() -> None:
    made: list[str] = []

    def make() -> str:
        made.append("x")
        return f"made {len(made)}"

    kept = Kept[str](most=2)
    assert [kept.get("a", 1, make), kept.get("a", 1, make)] == ["made 1", "made 1"]
    assert kept.get("a", 2, make) == "made 2"
    assert kept.get("a", 1, make) == "made 3", "only the latest is kept"
    kept.get("b", 1, make)
    kept.get("c", 1, make)
    assert kept.get("a", 1, make) == "made 6", "what was kept longest went"
    assert kept.get("c", 1, make) == "made 5"
