"""Which torch operations may stand in a launch plan, by what they do.

The work of a task must be done by Triton kernels. Movement is always allowed; finishing
arithmetic only where the task permits it; everything else is refused when the plan is built
and again when it is loaded.
"""

MOVEMENT = frozenset(
    {
        "aten.arange.start_step",
        "aten.cat.default",
        "aten.clone.default",
        "aten._to_copy.default",
        "aten.constant_pad_nd.default",
        "aten.copy_.default",
        "aten.fill_.Scalar",
        "aten.full.default",
        "aten.full_like.default",
        "aten.new_full.default",
        "aten.new_ones.default",
        "aten.new_zeros.default",
        "aten.ones.default",
        "aten.ones_like.default",
        "aten.stack.default",
        "aten.zero_.default",
        "aten.zeros.default",
        "aten.zeros_like.default",
    }
)
"""Operations that allocate, fill, copy, cast or join; no arithmetic."""

FINISHING = frozenset(
    {
        "aten.add.Tensor",
        "aten.add_.Tensor",
        "aten.amax.default",
        "aten.amin.default",
        "aten.div.Tensor",
        "aten.div_.Tensor",
        "aten.mean.default",
        "aten.mean.dim",
        "aten.mul.Tensor",
        "aten.mul_.Tensor",
        "aten.neg.default",
        "aten.neg_.default",
        "aten.reciprocal.default",
        "aten.rsub.Scalar",
        "aten.sub.Tensor",
        "aten.sub_.Tensor",
        "aten.sum.default",
        "aten.sum.dim_IntList",
    }
)
"""Small arithmetic on partial results, where the task's permissions say so."""

KNOWN = MOVEMENT | FINISHING
