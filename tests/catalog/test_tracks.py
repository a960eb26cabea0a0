"""Tracks name tasks that exist, each once."""

from pathlib import Path

import pytest

from kernels.catalog import Catalog, CatalogError
from kernels.new_task import make

TRACK = """
title = "A course"
summary = "One task after the other."

[[parts]]
title = "First"
steps = [{ task = "one", teaches = "A fact.", watch = "a figure" }]
"""


@pytest.fixture
def tasks(tmp_path: Path) -> Path:
    """A folder of two tasks, and an empty one for tracks beside it."""
    folder = tmp_path / "tasks"
    folder.mkdir()
    make("one", folder)
    make("two", folder)
    (tmp_path / "tracks").mkdir()
    return folder


def test_tracks_lie_beside_the_tasks(tasks: Path) -> None:
    assert Catalog(tasks).tracks == ()
    (tasks.parent / "tracks" / "course.toml").write_text(TRACK)
    (track,) = Catalog(tasks).tracks
    assert (track.name, track.title, track.tasks) == ("course", "A course", ("one",))


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('"one"', '"three"', "no task is called 'three'"),
        ("steps = [", 'steps = [{ task = "one", teaches = "", watch = "" }, ', "comes twice"),
        ("teaches", "shows", "parts.0.steps.0"),
        ("title", "title =", "not valid TOML"),
    ],
)
def test_what_is_wrong_is_named(tasks: Path, old: str, new: str, message: str) -> None:
    file = tasks.parent / "tracks" / "course.toml"
    file.write_text(TRACK.replace(old, new, 1))
    with pytest.raises(CatalogError, match=r"course\.toml") as caught:
        Catalog(tasks)
    assert message in str(caught.value)


def test_the_course_that_comes_with_the_project() -> None:
    catalog = Catalog()
    (track,) = catalog.tracks
    assert len(track.tasks) >= 20
