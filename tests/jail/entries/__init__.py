"""What the tests run inside jails.

A request is the name of a function of one of these modules and, after a space, its argument.
"""

from tests.jail.entries import cuda, gluttons, honest, liars, snoopers

_MODULES = (cuda, honest, gluttons, liars, snoopers)


def run(request: bytes) -> bytes:
    """Call the function that the request names."""
    name, _, argument = request.partition(b" ")
    module = next(module for module in _MODULES if hasattr(module, name.decode()))
    result: bytes = getattr(module, name.decode())(argument)
    return result
