"""Static files with their content's hash in the address, so that browsers may keep them."""

import hashlib
from functools import cache
from pathlib import Path

from starlette.exceptions import HTTPException
from starlette.responses import Response
from starlette.staticfiles import StaticFiles
from starlette.types import Scope

FRONTEND = Path(__file__).parents[2] / "frontend"
_FOLDERS = (FRONTEND / "static", FRONTEND / "vendor")
_SERVED = {".css", ".js", ".svg"}


def static(name: str) -> str:
    """Address of a file in frontend/static or frontend/vendor; KeyError if it is not there."""
    return f"/static/{name}?v={_digests()[name]}"


class Assets(StaticFiles):
    """Serves the two folders under one prefix; what is asked for by its hash never changes."""

    def __init__(self) -> None:
        super().__init__(directory=_FOLDERS[0])
        self.all_directories = list(_FOLDERS)

    async def get_response(self, path: str, scope: Scope) -> Response:
        """The file, or 404 for anything that pages do not load."""
        digest = _digests().get(path)
        if digest is None:
            raise HTTPException(404)
        response = await super().get_response(path, scope)
        asked = scope["query_string"].decode("latin-1")
        fresh = "public, max-age=31536000, immutable" if asked == f"v={digest}" else "no-cache"
        response.headers["Cache-Control"] = fresh
        response.headers["X-Content-Type-Options"] = "nosniff"
        return response


@cache
def _digests() -> dict[str, str]:
    files = [path for folder in _FOLDERS for path in folder.iterdir() if path.suffix in _SERVED]
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest()[:16] for path in files}
