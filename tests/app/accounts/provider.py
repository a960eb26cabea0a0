"""An OpenID Connect provider that is strict with its clients, and lies when it is told to."""

import base64
import hashlib
import secrets
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs, urlencode

import uvicorn
from joserfc import jwt
from joserfc.jwk import RSAKey
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.routing import Route

from tests.app.serving import answering

CLIENT, SECRET = "judge", "s3cret/+ and more"


@dataclass
class Provider:
    """Signs everybody in as `person`, at once."""

    person: dict[str, Any] = field(default_factory=dict)
    """Claims about whoever comes."""
    lies: dict[str, Any] = field(default_factory=dict)
    """Claims that are not as they should be."""
    key: RSAKey = field(default_factory=lambda: RSAKey.generate_key(2048, {"kid": "1"}))
    signs_with: RSAKey | None = None
    issuer: str = ""
    says: dict[str, Any] = field(default_factory=dict)
    """Of itself, other than it should."""
    codes: dict[str, dict[str, str]] = field(default_factory=dict)

    def app(self) -> Starlette:
        """Its four addresses."""
        routes = {
            "/.well-known/openid-configuration": self.describe,
            "/authorize": self.authorize,
            "/keys": self.keys,
            "/token": self.token,
        }
        methods = ["GET", "POST"]
        return Starlette(routes=[Route(path, end, methods=methods) for path, end in routes.items()])

    async def describe(self, _: Request) -> Response:
        known = {
            "issuer": self.issuer,
            "authorization_endpoint": f"{self.issuer}/authorize",
            "token_endpoint": f"{self.issuer}/token",
            "jwks_uri": f"{self.issuer}/keys",
        }
        return JSONResponse(known | self.says)

    async def authorize(self, request: Request) -> Response:
        asked = dict(request.query_params)
        assert asked["response_type"] == "code"
        assert asked["client_id"] == CLIENT
        assert asked["code_challenge_method"] == "S256"
        assert "openid" in asked["scope"].split()
        code = secrets.token_urlsafe(8)
        self.codes[code] = asked
        back = urlencode({"code": code, "state": asked["state"]})
        return RedirectResponse(f"{asked['redirect_uri']}?{back}", 302)

    async def keys(self, _: Request) -> Response:
        return JSONResponse({"keys": [self.key.as_dict(private=False)]})

    async def token(self, request: Request) -> Response:
        form = {name: values[0] for name, values in parse_qs(await request.body()).items()}
        sent = {name.decode(): value.decode() for name, value in form.items()}
        asked = self.codes.pop(sent.get("code", ""), None)
        if asked is None or not self._is_ours(request, sent, asked):
            return JSONResponse({"error": "invalid_grant"}, 400)
        return JSONResponse(
            {"access_token": "x", "token_type": "Bearer", "id_token": self._id(asked)}
        )

    def _is_ours(self, request: Request, sent: dict[str, str], asked: dict[str, str]) -> bool:
        digest = hashlib.sha256(sent["code_verifier"].encode()).digest()
        challenge = base64.urlsafe_b64encode(digest).decode().rstrip("=")
        escaped = urlencode({"": SECRET})[1:]
        basic = base64.b64encode(f"{CLIENT}:{escaped}".encode()).decode()
        return (
            challenge == asked["code_challenge"]
            and sent["redirect_uri"] == asked["redirect_uri"]
            and sent["grant_type"] == "authorization_code"
            and request.headers["authorization"] == f"Basic {basic}"
        )

    def _id(self, asked: dict[str, str]) -> str:
        now = int(time.time())
        claims = {
            "iss": self.issuer,
            "aud": CLIENT,
            "iat": now,
            "exp": now + 300,
            "nonce": asked["nonce"],
        }
        said = {k: v for k, v in (claims | self.person | self.lies).items() if v is not None}
        return jwt.encode({"alg": "RS256", "kid": "1"}, said, self.signs_with or self.key)


@contextmanager
def providing() -> Iterator[Provider]:
    """A provider on a free port of the loopback, as long as the block lasts."""
    provider = Provider()
    config = uvicorn.Config(provider.app(), port=0, log_level="warning")
    with answering(uvicorn.Server(config)) as provider.issuer:
        yield provider
