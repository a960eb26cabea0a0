"""An OpenID Connect provider: where people sign in at it, and who it says that they are."""

import hmac
import threading
import time
from dataclasses import dataclass, field
from typing import NamedTuple
from urllib.parse import urlencode

import httpx
from authlib.oauth2.rfc7636 import create_s256_code_challenge
from authlib.oidc.core import CodeIDToken
from joserfc import jwt
from joserfc.errors import JoseError
from joserfc.jwk import KeySet
from joserfc.jws import JWSRegistry
from pydantic import BaseModel, ConfigDict, ValidationError

from app.errors import Forbidden, Unauthorised, Unavailable
from app.settings import Settings
from app.store.identities import Identity

_TIMEOUT_SECONDS = 10.0
_KNOWN_SECONDS = 3600.0
"""How long what a provider says of itself is believed."""
_AWAY_SECONDS = 5.0
"""How long one that was not understood is not asked again: who asks holds one of the threads that
answer requests."""
_PATIENCE_SECONDS = 1.0
"""For another one's asking."""
_LEEWAY_SECONDS = 60
"""By which its clock may differ from ours."""
_LIMITS = httpx.Limits(max_keepalive_connections=0)
"""People sign in too seldom to keep connections open."""
_SCOPE = "openid email"
_SIGNATURES = [f"{kind}{bits}" for kind in ("RS", "PS", "ES") for bits in (256, 384, 512)]
"""By key pair alone: never by a secret, nor none at all."""


class _Answer(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True)


class Metadata(_Answer):
    """What a provider says of itself."""

    issuer: str
    authorization_endpoint: str
    token_endpoint: str
    jwks_uri: str
    token_endpoint_auth_methods_supported: tuple[str, ...] = ("client_secret_basic",)


class _Tokens(_Answer):
    id_token: str
    access_token: str | None = None


class Way(NamedTuple):
    """One browser's way to the provider and back."""

    secret: str
    """Known to that browser alone; state, nonce and verifier follow from it."""
    back: str
    """Address of ours that it comes back to."""

    def derived(self, use: str) -> str:
        """Of one secret three, of which none tells the others."""
        return hmac.digest(self.secret.encode(), use.encode(), "sha256").hex()


@dataclass
class Provider:
    """The one provider of an installation; one per process, safe to share between threads."""

    settings: Settings
    _known: tuple[float, Metadata] | None = None
    _away: tuple[float, Unavailable] | None = None
    _asking: threading.Lock = field(default_factory=threading.Lock)
    _http: httpx.Client = field(
        default_factory=lambda: httpx.Client(timeout=_TIMEOUT_SECONDS, limits=_LIMITS)
    )

    def address(self, way: Way) -> str:
        """The page of the provider that a browser goes to; Unavailable."""
        query = {
            "response_type": "code",
            "client_id": self.settings.oidc_client_id,
            "redirect_uri": way.back,
            "scope": _SCOPE,
            "state": way.derived("state"),
            "nonce": way.derived("nonce"),
            "code_challenge": create_s256_code_challenge(way.derived("verifier")),
            "code_challenge_method": "S256",
        }
        endpoint = self.metadata().authorization_endpoint
        return f"{endpoint}{'&' if '?' in endpoint else '?'}{urlencode(query)}"

    def identity(self, way: Way, code: str) -> Identity:
        """Who came back with that code; Unauthorised, Forbidden (domain), Unavailable."""
        known = self.metadata()
        tokens = self._exchange(known, way, code)
        keys = self._read(httpx.Request("GET", known.jwks_uri))
        claims = self._claims(known, tokens, keys, way.derived("nonce"))
        self._check_domain(claims)
        return Identity(known.issuer, str(claims["sub"])[:255], str(claims.get("email", ""))[:320])

    def metadata(self) -> Metadata:
        """What the provider says of itself, perhaps an hour ago; Unavailable."""
        if not self._asking.acquire(timeout=_PATIENCE_SECONDS):
            raise self._silent("takes its time")
        try:
            return self._asked_once()
        finally:
            self._asking.release()

    def _asked_once(self) -> Metadata:
        """The same by one thread at a time; what failed is not asked for again at once."""
        now = time.monotonic()
        if self._known is not None and now - self._known[0] < _KNOWN_SECONDS:
            return self._known[1]
        if self._away is not None and now - self._away[0] < _AWAY_SECONDS:
            problem = self._away[1]
            raise Unavailable(problem.detail, problem.next_step, retry_after=60)
        try:
            found = self._described()
        except Unavailable as failed:
            self._away = (time.monotonic(), failed)
            raise
        self._known = (time.monotonic(), found)
        return found

    def _described(self) -> Metadata:
        issuer = self.settings.oidc_issuer.rstrip("/")
        answer = self._read(httpx.Request("GET", f"{issuer}/.well-known/openid-configuration"))
        try:
            found = Metadata.model_validate_json(answer.content)
        except ValidationError:
            raise self._silent("describes itself in a way that is not understood") from None
        if found.issuer.rstrip("/") != issuer:
            raise self._silent(f"calls itself {found.issuer[:80]}")
        return found

    def _exchange(self, known: Metadata, way: Way, code: str) -> _Tokens:
        """The provider's tokens for a code."""
        client, secret = self.settings.oidc_client_id, self.settings.oidc_client_secret
        form = {
            "grant_type": "authorization_code",
            "code": code,
            "redirect_uri": way.back,
            "code_verifier": way.derived("verifier"),
        }
        basic = "client_secret_basic" in known.token_endpoint_auth_methods_supported
        if not (secret and basic):
            form |= {"client_id": client} | ({"client_secret": secret} if secret else {})
        request = httpx.Request("POST", known.token_endpoint, data=form)
        auth = _basic(client, secret) if secret and basic else None
        answer = self._send(request, auth)
        try:
            return _Tokens.model_validate_json(answer.raise_for_status().content)
        except (httpx.HTTPStatusError, ValidationError):
            raise Unauthorised(
                f"{self.settings.oidc_name} gave nothing for this sign-in",
                "Sign in again; if that fails too, the operator should check the client's secret.",
            ) from None

    def _claims(
        self, known: Metadata, tokens: _Tokens, keys: httpx.Response, nonce: str
    ) -> CodeIDToken:
        """What an identity token says, once all that can be wrong with it was looked at."""
        expected = {
            "iss": {"essential": True, "value": known.issuer},
            "aud": {"essential": True, "value": self.settings.oidc_client_id},
        }
        params = {
            "nonce": nonce,
            "client_id": self.settings.oidc_client_id,
            "access_token": tokens.access_token,
        }
        try:
            found = jwt.decode(
                tokens.id_token,
                KeySet.import_key_set(keys.json()),
                registry=JWSRegistry(algorithms=_SIGNATURES, strict_check_header=False),
            )
            claims = CodeIDToken(found.claims, found.header, expected, params)
            claims.validate(leeway=_LEEWAY_SECONDS)
        except (JoseError, ValueError, KeyError, TypeError) as error:
            raise Unauthorised(
                f"what {self.settings.oidc_name} says of you cannot be trusted ({error})",
                "Sign in again; if that fails too, tell the operator.",
            ) from None
        return claims

    def _check_domain(self, claims: CodeIDToken) -> None:
        domains = self.settings.oidc_domains
        email = str(claims.get("email", ""))
        if not domains:
            return
        if claims.get("email_verified") is not True or not email.lower().endswith(
            tuple(f"@{domain}" for domain in domains)
        ):
            raise Forbidden(
                f"{email[:80] or 'somebody without an e-mail address'} is not known to be of "
                f"{' or '.join(domains)}",
                f"Sign in to {self.settings.oidc_name} as somebody else, or ask the operator.",
            )

    def _read(self, request: httpx.Request) -> httpx.Response:
        answer = self._send(request)
        if answer.status_code != 200:
            raise self._silent(f"answers {answer.status_code}")
        return answer

    def _send(self, request: httpx.Request, auth: httpx.Auth | None = None) -> httpx.Response:
        try:
            return self._http.send(request, auth=auth)
        except httpx.HTTPError as error:
            raise self._silent(f"does not answer ({type(error).__name__})") from None

    def _silent(self, why: str) -> Unavailable:
        return Unavailable(
            f"{self.settings.oidc_name} {why}",
            "Try again in a minute, or sign in with your password.",
            retry_after=60,
        )


def _basic(client: str, secret: str) -> httpx.BasicAuth:
    """Both parts are escaped as in a form before they are put together (RFC 6749, 2.3.1)."""
    plain = (urlencode({"": part})[1:] for part in (client, secret))
    return httpx.BasicAuth(*plain)
