"""Where paths lead, before they are shown in a private root."""

from pathlib import Path

import pytest

from workers.jail.landlock import program_interpreter
from workers.jail.root import resolve


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """Folders, and links by relative, absolute, upward and endless ways."""
    (tmp_path / "real" / "deep").mkdir(parents=True)
    (tmp_path / "a").symlink_to("real/deep")
    (tmp_path / "absolute").symlink_to(tmp_path / "real")
    (tmp_path / "up").symlink_to(f"../{tmp_path.name}/absolute")
    (tmp_path / "loop").symlink_to("loop")
    return tmp_path


@pytest.mark.parametrize(
    ("path", "target", "links"),
    [
        ("real/deep", "real/deep", []),
        ("a", "real/deep", ["a"]),
        ("absolute/deep", "real/deep", ["absolute"]),
        ("up/deep", "real/deep", ["up", "absolute"]),
    ],
)
def test_links_on_the_way(tree: Path, path: str, target: str, links: list[str]) -> None:
    found, passed = resolve(tree / path)
    assert found == (tree / target) == (tree / path).resolve()
    assert list(passed) == [tree / link for link in links]
    assert all(text == str(link.readlink()) for link, text in passed.items())


def test_endless_links(tree: Path) -> None:
    with pytest.raises(OSError, match="loop: too many symbolic links"):
        resolve(tree / "loop")


def test_loader_of_a_program(tmp_path: Path) -> None:
    loader = program_interpreter(Path("/bin/sh"))
    assert loader is not None
    assert loader.name.startswith("ld-")
    script = tmp_path / "script"
    script.write_bytes(b"#!/bin/sh\n" + b" " * 100)
    assert program_interpreter(script) is None
