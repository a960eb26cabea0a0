"""Settings whose value lies in a file, as container engines hand secrets over."""

import os
from collections.abc import Mapping
from pathlib import Path

_SECRETS = (
    "KERNELJUDGE_REDIS_URL",
    "KERNELJUDGE_DATABASE_URL",
    "KERNELJUDGE_OIDC_CLIENT_SECRET",
)


def with_secrets(environ: Mapping[str, str] = os.environ) -> dict[str, str]:
    """The environment, where NAME_FILE stands for NAME; ValueError if the file cannot be read."""
    found = dict(environ)
    for name in _SECRETS:
        file = environ.get(f"{name}_FILE")
        if not file:
            continue
        if environ.get(name):
            raise ValueError(f"{name} and {name}_FILE are both set: leave one of them out")
        try:
            found[name] = Path(file).read_text(encoding="utf-8").strip()
        except (OSError, UnicodeDecodeError) as error:
            raise ValueError(f"{name}_FILE={file} cannot be read: {error}") from None
    return found
