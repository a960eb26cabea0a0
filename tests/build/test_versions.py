"""What is taken from Triton's inside, checked against the Triton that is installed."""

import os
from pathlib import Path

import pytest
import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource

from tests.forked import forked
from workers.build import versions

TARGET = GPUTarget("cuda", 90, 32)


@triton.jit  # type: ignore[untyped-decorator]
def store(x_ptr, BLOCK: tl.constexpr):  # type: ignore[no-untyped-def]
    tl.store(x_ptr + tl.arange(0, BLOCK), 1.0)


def source(block: int) -> ASTSource:
    return ASTSource(store, {"x_ptr": "*fp32", "BLOCK": "constexpr"}, {(1,): block})


def test_the_key_is_that_of_tritons_own_cache(tmp_path: Path) -> None:
    def compiled() -> tuple[bool, str | None, bool, str]:
        os.environ["TRITON_CACHE_DIR"] = str(tmp_path)
        key = versions.cache_key(source(16), TARGET, {"num_warps": 2})
        before = key is not None and versions.is_cached(key, source(16))
        kernel = triton.compile(source(16), target=TARGET, options={"num_warps": 2})
        return before, key, versions.is_cached(str(key), source(16)), kernel.metadata.hash

    before, key, after, hashed = forked(compiled)
    assert (before, after) == (False, True)
    assert key == hashed


@pytest.mark.parametrize(
    ("block", "options"), [(32, {"num_warps": 2}), (16, {"num_warps": 4}), (16, {})]
)
def test_other_kernels_have_other_keys(block: int, options: dict[str, int]) -> None:
    one = versions.cache_key(source(16), TARGET, {"num_warps": 2})
    assert versions.cache_key(source(block), TARGET, options) != one


def test_what_is_not_made_from_python_has_no_key() -> None:
    assert versions.cache_key(object(), TARGET, {}) is None


def test_the_version_is_one_that_the_project_works_with() -> None:
    assert versions.VERSION.startswith(("3.6.", "3.7."))
