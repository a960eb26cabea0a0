"""The environment variables of fork servers and jails; nothing is inherited."""

from pathlib import Path

from workers.jail.profile import Profile
from workers.jail.root import SCRATCH


def scratch_variables(scratch: Path) -> dict[str, str]:
    """The variables that lead libraries to the only writable place."""
    return {
        "HOME": str(scratch),
        "TMPDIR": str(scratch),
        "TRITON_CACHE_DIR": str(scratch / "triton"),
        "CUDA_CACHE_PATH": str(scratch / "cuda"),
    }


def environment(profile: Profile) -> dict[str, str]:
    """Everything that a server and its jails find in their environment."""
    return {**profile.env, **scratch_variables(SCRATCH)}
