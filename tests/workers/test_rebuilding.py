"""Provenance from the real build jail: what Triton compiled passes, a forged cubin does not."""

from collections.abc import Iterator

import pytest

from kernels.contract import Bundle, DeviceName, Submission
from tests.build.builds import COPY, COPYING
from workers.building import build
from workers.jail import JailClient, probe
from workers.rebuilding import Review, rebuild
from workers.servers import start_build
from workers.settings import Settings

SOLVE = """
def solve(x):
    return run(x, torch.empty_like(x))
"""
FORGERY = """
from triton.backends.nvidia.compiler import CUDABackend
_assemble = CUDABackend.make_cubin
def _forge(self, ptx, *rest):
    return _assemble(self, ptx.replace("st.global", "st.global.wt"), *rest)
CUDABackend.make_cubin = _forge
"""
OVERRIDDEN = """
@triton.jit
def other(x_ptr, y_ptr, count, BLOCK: tl.constexpr):
    tl.store(y_ptr + tl.arange(0, BLOCK), 0.0)

def solve(x):
    y = torch.empty_like(x)
    kernel = other.warmup(x, y, x.numel(), BLOCK=64, grid=(1,))
    with open("mine.ptx", "w") as file:
        file.write(kernel.asm["ptx"].replace("other", "copy"))
    copy[(triton.cdiv(x.numel(), 64),)](x, y, x.numel(), BLOCK=64, ir_override="mine.ptx")
    return y
"""
SPECIALIZED = """
@triton.jit
def sums(x_ptr, y_ptr, count, BLOCK: tl.constexpr):
    total = tl.zeros((BLOCK,), tl.float32)
    for i in tl.range(0, count, BLOCK, warp_specialize=True):
        total += tl.load(x_ptr + i + tl.arange(0, BLOCK))
    tl.store(y_ptr + tl.arange(0, BLOCK), total)

def solve(x):
    y = torch.empty_like(x)
    sums[(1,)](x, y, x.numel(), BLOCK=64, num_warps=2, num_stages=4, maxnreg=64,
               enable_fp_fusion=False)
    return y
"""
GLUON = """
from triton.experimental import gluon
from triton.experimental.gluon import language as gl

@gluon.jit
def double(x_ptr, y_ptr, count, BLOCK: gl.constexpr):
    layout: gl.constexpr = gl.BlockedLayout([1], [32], [4], [0])
    offsets = gl.program_id(0) * BLOCK + gl.arange(0, BLOCK, layout=layout)
    inside = offsets < count
    gl.store(y_ptr + offsets, 2 * gl.load(x_ptr + offsets, mask=inside), mask=inside)

def solve(x):
    y = torch.empty_like(x)
    double[(triton.cdiv(x.numel(), 128),)](x, y, x.numel(), BLOCK=128)
    return y
"""


@pytest.fixture(scope="module")
def jail(tmp_path_factory: pytest.TempPathFactory) -> Iterator[JailClient]:
    """A build server like a worker's."""
    level = probe()
    if level.missing:
        pytest.skip(f"no jail here: {level.describe()}")
    folder = tmp_path_factory.mktemp("rebuilding")
    settings = Settings(
        data_dir=folder, redis_url="", build_workers=1, unsafe=False, gpu=False, host="test"
    )
    settings.runtime_dir.mkdir()
    server = start_build(settings)
    yield JailClient(server.socket)
    server.stop()


def bundle_of(source: str, jail: JailClient) -> Bundle:
    submission = Submission(
        id="s1", attempt=1, task=COPYING.name, task_version=1, device=DeviceName.H200,
        measured=False, entry=COPYING.entry, source=COPY + source,
    )  # fmt: skip
    built = build(submission, COPYING, jail)
    assert built.bundle is not None, built.failure
    return built.bundle


def reviewed(source: str, jail: JailClient) -> Review:
    return rebuild(bundle_of(source, jail), COPYING, jail)


@pytest.mark.parametrize("source", [SOLVE, SPECIALIZED, GLUON], ids=["copy", "options", "gluon"])
def test_what_triton_compiled_is_compiled_identically(source: str, jail: JailClient) -> None:
    bundle = bundle_of(source, jail)
    review = rebuild(bundle, COPYING, jail)
    assert review.provenance.outcome == "identical"
    assert review.provenance.failure is None
    (found,) = review.provenance.kernels.values()
    assert found.mix is not None
    assert found.mix.total > 0
    whole = bundle.with_texts("sass", review.sass)
    assert Bundle.unpack(whole.pack()) == whole
    assert whole.plan.digest == bundle.plan.digest
    assert found.specialization_ignored == (source == SPECIALIZED)


@pytest.mark.parametrize("forgery", [FORGERY + SOLVE, OVERRIDDEN], ids=["patched", "overridden"])
def test_a_forged_cubin_is_found(forgery: str, jail: JailClient) -> None:
    provenance = reviewed(forgery, jail).provenance
    assert provenance.outcome == "different"
    assert provenance.failure is not None
    assert provenance.failure.verdict == "rejected"
    assert "copy is not what Triton makes of it" in provenance.failure.reason


def test_a_kernel_without_its_ir_does_not_pass(jail: JailClient) -> None:
    bundle = bundle_of(SOLVE, jail)
    ((sha, kernel),) = bundle.plan.kernels.items()
    bare = bundle.plan.model_copy(
        update={"kernels": {sha: kernel.model_copy(update={"texts": {}})}}
    )
    review = rebuild(Bundle(plan=bare, blobs=bundle.blobs), COPYING, jail)
    assert review.provenance.outcome == "not rebuilt"
    assert review.provenance.failure is not None


def test_ir_that_is_none_does_not_pass(jail: JailClient) -> None:
    bundle = bundle_of(SOLVE, jail)
    broken = bundle.with_texts("ttir", dict.fromkeys(bundle.plan.kernels, b"no zlib"))
    review = rebuild(broken, COPYING, jail)
    assert review.provenance.outcome == "not rebuilt"
