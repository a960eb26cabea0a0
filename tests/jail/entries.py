"""Entry functions for the tests: honest ones and attacks. They run inside jails."""


def echo(request: bytes) -> bytes:
    """Return the request."""
    return request
