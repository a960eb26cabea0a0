"""Profiles and limits: checked where they are made, and the same after JSON."""

import json
from pathlib import Path

import pytest

from workers.jail import Limits, Profile, interpreter_paths


def test_profile_round_trip() -> None:
    profile = Profile(
        "all",
        readable=(Path("/usr/lib"), Path("/etc")),
        executable=(Path("/bin/sh"),),
        devices=(Path("/dev/null"),),
        cuda_sockets=True,
        env={"A": "1"},
    )
    assert Profile.from_json(profile.to_json()) == profile


@pytest.mark.parametrize("field", ["readable", "executable", "devices"])
@pytest.mark.parametrize(
    ("path", "reason"), [("relative", "absolute path"), ("/no/such/path", "does not exist")]
)
def test_profile_names_real_absolute_paths(field: str, path: str, reason: str) -> None:
    with pytest.raises(ValueError, match=f"profile p: {path} .*{reason}"):
        Profile(**{"name": "p", "readable": (), field: (Path(path),)})  # type: ignore[arg-type]


@pytest.mark.parametrize("text", ["[]", '{"nam": "x"}', "{", '"x"'])
def test_profile_from_other_json(text: str) -> None:
    with pytest.raises(ValueError, match=r"profile|Expecting"):
        Profile.from_json(text)


def test_limits_round_trip() -> None:
    limits = Limits(wall_s=7, result_bytes=9)
    assert Limits.from_json(limits.to_json()) == limits
    assert Limits.from_json("{}") == Limits()


@pytest.mark.parametrize("value", [0, -1, 1.5, True, "3", None])
def test_limits_are_positive_whole_numbers(value: object) -> None:
    with pytest.raises(ValueError, match="wall_s must be a positive whole number"):
        Limits.from_json(json.dumps({"wall_s": value}))


def test_interpreter_paths_leave_the_project_out() -> None:
    paths = interpreter_paths()
    project = Path(__file__).resolve().parents[2]
    assert Path(json.__file__).is_relative_to(next(p for p in paths if "python" in str(p)))
    assert not any(project.is_relative_to(path) for path in paths)
    assert not {Path("/"), Path("/usr"), Path("/usr/local"), Path("/etc")} & set(paths)
