"""Where the judge is, and who we are to it."""

import json
import os
from pathlib import Path
from typing import NamedTuple

from kerneljudge.client import DEFAULT_URL
from kerneljudge.errors import JudgeError


class Login(NamedTuple):
    """A judge's address and the token for it, if it wants one."""

    url: str
    token: str | None = None


def path() -> Path:
    """The file in which `kerneljudge login` keeps both, readable by its owner alone."""
    base = os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config"
    return Path(base) / "kerneljudge" / "login.json"


def save(login: Login) -> None:
    """Keep it for the commands that follow."""
    file = path()
    file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    fresh = file.with_suffix(".new")
    fresh.unlink(missing_ok=True)
    with open(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as stream:
        json.dump(login._asdict(), stream)
    fresh.replace(file)


def forget() -> bool:
    """Remove it; whether there was one."""
    there = path().exists()
    path().unlink(missing_ok=True)
    return there


def current(url: str | None = None) -> Login:
    """What is given, else the environment, else the file, else the local default.

    A saved token goes to the address that it was saved with and to no other.
    """
    saved = _saved()
    url = (url or os.environ.get("KERNELJUDGE_URL") or saved.url).rstrip("/")
    token = os.environ.get("KERNELJUDGE_TOKEN") or (saved.token if saved.url == url else None)
    return Login(url, token)


def _saved() -> Login:
    try:
        fields = json.loads(path().read_text())
        return Login(str(fields["url"]).rstrip("/"), fields["token"])
    except FileNotFoundError:
        return Login(DEFAULT_URL)
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise JudgeError(f"{path()} cannot be read ({error}). Run `kerneljudge login`.") from None
