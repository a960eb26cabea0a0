"""Plans through the whole stack: built once, compiled again, and kept with their disassembly."""

import urllib.request
import zlib

from kernels.catalog import Catalog
from kernels.contract import Bundle
from scripts.stack import Stack

SOURCE = next(path for path in Catalog()["softmax"].solutions if path.stem == "three_pass")
FORGED = """
from triton.backends.nvidia.compiler import CUDABackend
_assemble = CUDABackend.make_cubin
CUDABackend.make_cubin = lambda self, ptx, *rest: _assemble(
    self, ptx.replace("ex2.approx.f32", "ex2.approx.ftz.f32"), *rest
)
"""


def test_an_equal_submission_is_not_built_again(stack: Stack) -> None:
    source = SOURCE.read_text() + "\nprint('built')\n"
    first, second = (stack.submit("softmax", source, wait=600)["report"] for _ in range(2))
    assert (first["plan_cached"], second["plan_cached"]) == (False, True)
    assert second["durations"]["build"] < first["durations"]["build"]
    for report in (first, second):
        assert report["verdict"] == "checked"
        assert report["rebuilt"] == "identical"
        assert "built" in report["log"]
        assert all(kernel["mix"]["special"] > 0 for kernel in report["kernels"])


def test_the_stored_plan_has_the_disassembly(stack: Stack) -> None:
    detail = stack.submit("softmax", SOURCE.read_text(), wait=600)
    with urllib.request.urlopen(
        f"{stack.address}/api/v1/submissions/{detail['id']}/plan"
    ) as answer:
        bundle = Bundle.unpack(answer.read())
    for kernel in bundle.plan.kernels.values():
        assert "MUFU.EX2" in zlib.decompress(bundle.blobs[kernel.texts["sass"]]).decode()


def test_a_forged_cubin_is_rejected(stack: Stack) -> None:
    source = SOURCE.read_text().replace(
        "import triton.language as tl", "import triton.language as tl" + FORGED
    )
    report = stack.submit("softmax", source, wait=600)["report"]
    assert (report["verdict"], report["rebuilt"]) == ("rejected", "different")
    assert "not what Triton makes of it" in report["reason"]
    assert report["score"] is None
