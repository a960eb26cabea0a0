"""P10: calls printf by inline assembly, with a format of its own. Must be: rejected."""

import triton
import triton.language as tl

# + honest softmax

honest = solve  # noqa: F821

CALL = tl.constexpr("""{
    .extern .func (.param .b32 q) vprintf (.param .b64 f, .param .b64 v);
    .global .align 8 .b8 text[8] = {37, 115, 37, 110, 37, 115, 10, 0};
    .reg .b64 p;
    .param .b64 f;
    .param .b64 v;
    .param .b32 q;
    mov.b64 p, text;
    cvta.global.u64 p, p;
    st.param.b64 [f], p;
    st.param.b64 [v], $1;
    call.uni (q), vprintf, (f, v);
    ld.param.b32 $0, [q];
}""")


@triton.jit
def talkative(y):
    tl.inline_asm_elementwise(CALL, "=r,l", [y.to(tl.int64)], tl.int32, is_pure=False, pack=1)


def solve(x):
    y = honest(x)
    talkative[(256,)](y)
    return y
