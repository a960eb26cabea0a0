"""What differs between the versions of Triton that the project works with (3.6 and 3.7)."""

import hashlib
from typing import Any

import triton
from triton._C.libtriton import get_cache_invalidating_env_vars
from triton.compiler.compiler import ASTSource, make_backend
from triton.runtime import driver
from triton.runtime.cache import get_cache_key, get_cache_manager, triton_key

VERSION = str(triton.__version__)


def cache_key(source: Any, target: Any, options: Any) -> str | None:
    """Name of a kernel in Triton's cache; None if it is not made from a Python function."""
    if not isinstance(source, ASTSource):
        return None
    backend = make_backend(driver.active.get_current_target() if target is None else target)
    parsed = backend.parse_options(dict(options or {}, **source.parse_options()))
    text = get_cache_key(source, backend, parsed, env_vars=get_cache_invalidating_env_vars())
    return hashlib.sha256(text.encode()).hexdigest()


def is_cached(key: str, source: Any) -> bool:
    """Whether Triton would load a kernel instead of compiling it."""
    return get_cache_manager(key).get_group(f"{source.name[:150]}.json") is not None


def warm_key() -> None:
    """Compute the digest of Triton itself, which takes a third of a second the first time."""
    triton_key()
