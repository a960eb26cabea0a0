"""A plan with the texts of a kernel, as a build leaves them, for pages to show."""

import hashlib
import zlib

from kernels.contract import Bundle
from kernels.contract.plan import TextKind
from kernels.contract.steps import Alternative, Choice
from tests.contract.examples import CUBIN, SHA, bundle, case_plan, kernel, launch, plan
from tests.pages.samples import HOSTILE

TTIR = """\
#loc = loc("submission.py":7:0)
#loc3 = loc(unknown)
#loc4 = loc("submission.py":11:21)
#loc5 = loc("/usr/lib/triton/language/standard.py":37:36)
#loc20 = loc("values"(#loc4))
#loc21 = loc(callsite(#loc5 at #loc20))
#loc22 = loc(fused[#loc3, #loc20])
#loc30 = loc("round"(#loc31))
#loc31 = loc("round"(#loc30))
module {
  tt.func public @softmax_kernel(%x: !tt.ptr<f16> loc("x"(#loc))) {
    %zero = arith.constant 0 : i32 loc(#loc3)
    %values = tt.load %x : !tt.ptr<f16> loc(#loc20)
    %top = "tt.reduce"(%values) loc(#loc21)
    %both = arith.addf %top, %top loc(#loc22)
    %round = arith.addf %top, %top loc(#loc30)
    tt.return loc("submission.py":13:4)
  } loc(#loc)
} loc(#loc)
"""

PTX = """\
.version 8.7
.visible .entry softmax_kernel(
)
{
\t.loc\t1 11 21                         // submission.py:11:21
\tld.global.b16 \t%rs1, [%rd1];
$L__tmp0:
\t.loc\t2 37 36, function_name $L__info_string1, inlined_at 1 12 30
\tmax.f32 \t%f1, %f2, %f3;
\t.loc\t2 40 1
\tret;
}
\t.file\t1 "/tmp" "submission.py"
\t.file\t2 "/usr/lib/triton/language" "standard.py"
\t.section\t.debug_abbrev
\t{
.b8 1
\t}
"""

SASS = f"MOV R1, c[0x0][0x28] ; {HOSTILE}\n"
_TEXTS: dict[TextKind, str] = {"ttir": TTIR, "ptx": PTX, "sass": SASS}


def packed(grid: tuple[int, int, int] = (4096, 2, 1)) -> bytes:
    """A plan of two cases, one of them a benchmark, with texts of its kernel."""
    cases = (
        case_plan(case="tiny"),
        case_plan(case="short_rows", steps=(launch(grid=grid, line=19),)),
    )
    found = bundle().model_copy(update={"plan": plan(cases=cases)})
    for kind, text in _TEXTS.items():
        found = found.with_texts(kind, {SHA: zlib.compress(text.encode())})
    return found.pack()


CONFIGS = ("BLOCK: 1024, num_warps: 4", "BLOCK: 2048, num_warps: 8")


def tuned() -> bytes:
    """A plan that offers one kernel in two configurations, in two cases."""
    cubins = {hashlib.sha256(cubin).hexdigest(): cubin for cubin in (CUBIN, CUBIN + b" more")}
    alternatives = tuple(
        Alternative(config=config, steps=(launch(kernel=sha),))
        for config, sha in zip(CONFIGS, cubins, strict=True)
    )
    step = Choice(id=0, function="softmax_kernel", alternatives=alternatives)
    cases = tuple(case_plan(case=name, steps=(step,)) for name in ("tiny", "short_rows"))
    kernels = {sha: kernel() for sha in cubins}
    return Bundle(plan=plan(cases=cases, kernels=kernels), blobs=cubins).pack()
