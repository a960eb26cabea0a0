"""Secrets that the service hands out: random, and remembered as digests alone."""

import hashlib
import hmac
import secrets

TOKEN_PREFIX = "kj_"
"""Begins every API token, so that a search for leaked secrets finds them."""

_BYTES = 32


def new_secret() -> str:
    """256 random bits, which no digest needs to be slow for."""
    return secrets.token_urlsafe(_BYTES)


def new_token() -> str:
    """A new API token."""
    return TOKEN_PREFIX + new_secret()


def digest(secret: str) -> str:
    """What the database keeps of a secret."""
    return hashlib.sha256(secret.encode(errors="surrogatepass")).hexdigest()


def form_token(secret: str) -> str:
    """What a form must send along; whoever cannot read the cookie cannot know it."""
    return hmac.digest(secret.encode(errors="surrogatepass"), b"form", "sha256").hex()


def same(left: str, right: str) -> bool:
    """Whether two secrets are equal, in a time that does not tell where they differ."""
    return hmac.compare_digest(
        left.encode(errors="surrogatepass"), right.encode(errors="surrogatepass")
    )
