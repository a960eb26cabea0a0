"""The private root: a tmpfs with read-only views of what the profile names."""

import os
from collections import deque
from pathlib import Path

from workers.jail import linux
from workers.jail.linux import (
    MS_BIND,
    MS_NODEV,
    MS_NOEXEC,
    MS_NOSUID,
    MS_PRIVATE,
    MS_RDONLY,
    MS_REC,
)
from workers.jail.profile import Limits, Profile

SCRATCH = Path("/scratch")
_MOST_LINKS = 40
_PLAIN_DEVICES = (Path("/dev/null"), Path("/dev/random"), Path("/dev/urandom"))


def resolve(path: Path) -> tuple[Path, dict[Path, str]]:
    """Where an absolute path leads, and the symbolic links (with texts) on the way."""
    links: dict[Path, str] = {}
    current, rest, hops = Path("/"), deque(path.parts[1:]), 0
    while rest:
        part = rest.popleft()
        step = current.parent if part == ".." else current / part
        if not step.is_symlink():
            current = step
            continue
        hops += 1
        if hops > _MOST_LINKS:
            raise OSError(f"{path}: too many symbolic links")
        links[step] = os.readlink(step)
        target = Path(links[step])
        current = Path("/") if target.is_absolute() else current
        rest.extendleft(reversed([p for p in target.parts if p != "/"]))
    return current, links


def _inside(root: Path, path: Path) -> Path:
    return root / path.relative_to("/")


def _show(root: Path, path: Path, flags: int) -> None:
    """Bind `path` at the same place below `root`, unless it is visible there already."""
    target = _inside(root, path)
    if target.exists():
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    if path.is_dir():
        target.mkdir()
    else:
        target.touch()
    linux.mount(str(path), target, None, MS_BIND | MS_REC)
    linux.restrict_mount(target, flags)


def _show_readable(root: Path, profile: Profile) -> None:
    wanted = {*profile.readable, *profile.executable} - {*profile.machine_proc}
    resolved = [resolve(path) for path in wanted]
    # Outer folders first, since what lies in them is then visible already.
    for path in sorted({path for path, _ in resolved}, key=lambda path: len(path.parts)):
        _show(root, path, MS_RDONLY | MS_NOSUID | MS_NODEV)
    for link, text in {link: text for _, links in resolved for link, text in links.items()}.items():
        inside = _inside(root, link)
        if not os.path.lexists(inside):
            inside.parent.mkdir(parents=True, exist_ok=True)
            inside.symlink_to(text)


def _mount_scratch(root: Path, limits: Limits, owner: int) -> None:
    target = _inside(root, SCRATCH)
    target.mkdir()
    size = f"size={limits.scratch_bytes},nr_inodes={limits.scratch_inodes + 1}"
    data = f"{size},mode=0700,uid={owner},gid={owner}"
    linux.mount("scratch", target, "tmpfs", MS_NOSUID | MS_NODEV | MS_NOEXEC, data)


def _mount_proc(target: Path, profile: Profile) -> None:
    """A /proc of this process-id namespace, with facts about the machine only where asked for."""
    target.mkdir()
    subset = "" if profile.machine_proc else ",subset=pid"
    linux.mount("proc", target, "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, f"hidepid=2{subset}")


def enter(mountpoint: Path, profile: Profile, limits: Limits, owner: int, *, proc: bool) -> None:
    """Move the calling process, alone in its mount namespace, into the private root.

    `mountpoint` is any folder; `owner` is the uid and gid of the scratch folder.
    """
    linux.mount(None, Path("/"), None, MS_REC | MS_PRIVATE)
    linux.mount("root", mountpoint, "tmpfs", MS_NOSUID | MS_NODEV, "size=1m,mode=0755")
    _show_readable(mountpoint, profile)
    for device in (*_PLAIN_DEVICES, *profile.devices):
        _show(mountpoint, device, MS_NOSUID | MS_NOEXEC)
    _mount_scratch(mountpoint, limits, owner)
    if proc:
        _mount_proc(mountpoint / "proc", profile)
    linux.change_root(mountpoint)
    linux.restrict_mount(Path("/"), MS_RDONLY | MS_NOSUID | MS_NODEV, recursive=False)
