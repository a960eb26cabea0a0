"""Gradients of attention: the exact results, torch's, and how much rounding is allowed."""

import torch

Tensor = torch.Tensor

_SCORES = 1 << 26
"""Most scores that are held at once; in double precision 512 MiB, several times."""


def reference(
    q: Tensor, k: Tensor, v: Tensor, o: Tensor, do: Tensor, lse: Tensor, causal: int
) -> tuple[Tensor, Tensor, Tensor]:
    """dq, dk and dv in double precision, from o and lse as they are given."""
    dq, dk, dv = (torch.zeros_like(x, dtype=torch.float64) for x in (q, k, v))
    for part, owner in _parts(q, k):
        weights, changes = _changes(q, k, v, o, do, lse, causal, part, owner, torch.float64)
        dq[part] = changes @ k[owner].double()
        dk[owner] += (changes.mT @ q[part].double()).sum(0, keepdim=True)
        dv[owner] += (weights.mT @ do[part].double()).sum(0, keepdim=True)
    return dq, dk, dv


def baseline(
    q: Tensor, k: Tensor, v: Tensor, o: Tensor, do: Tensor, lse: Tensor, causal: int
) -> tuple[Tensor, Tensor, Tensor]:
    """The gradients by torch: on a GPU by cuDNN where it can, else step by step."""
    aligned = all(x.is_contiguous() and x.data_ptr() % 16 == 0 for x in (q, k, v, o, do))
    if (
        q.is_cuda
        and aligned
        and min(q.shape[2], k.shape[2]) >= 128
        and not (causal and q.shape[2] != k.shape[2])
    ):
        seed = torch.zeros((), dtype=torch.int64, device=q.device)
        made = torch.ops.aten._scaled_dot_product_cudnn_attention_backward(
            do, q, k, v, o, lse[..., None], seed, seed, None, None, None, q.shape[2], k.shape[2],
            0.0, bool(causal),
        )  # fmt: skip
        return made[0], made[1], made[2]
    return _step_by_step(q, k, v, o, do, lse, causal)


def slack(
    q: Tensor, k: Tensor, v: Tensor, o: Tensor, do: Tensor, lse: Tensor, causal: int
) -> tuple[Tensor, Tensor, Tensor]:
    """What rounding weights and their changes to the element type, and sums to float32, may cost.

    Each may be half an ulp off, or with float16 half the smallest step if it is small. These errors
    are independent, so they add as squares. Rounding is off by 0.4 units, or 0.6 steps, on average:
    3.2 units and 3.5 steps are six deviations or more, beyond which none of a billion elements
    should lie.
    """
    kind, single = torch.finfo(q.dtype), 2.0**-22
    step = (3.5 * kind.smallest_normal * kind.eps / 2) ** 2
    dq, dk, dv = (torch.zeros_like(x, dtype=torch.float32) for x in (q, k, v))
    scale = q.shape[-1] ** -0.5
    for part, owner in _parts(q, k):
        weights, changes = _changes(q, k, v, o, do, lse, causal, part, owner, torch.float32)
        reach = q[part].float().norm(dim=-1) * k[owner].float().norm(dim=-1).amax() * scale
        share = 3.2 * (kind.eps / 2 + single * (reach + lse[part].abs()))[..., None]
        far = v[owner].float().norm(dim=-1).amax() + o[part].float().norm(dim=-1)
        cancelled = 3.2 * single * scale * (do[part].float().norm(dim=-1) * far)[..., None]
        off = (share * changes).square() + (weights * cancelled).square() + step
        dq[part] = off @ k[owner].float().square()
        dk[owner] += (off.mT @ q[part].float().square()).sum(0, keepdim=True)
        off = (share * weights).square() + step
        dv[owner] += (off.mT @ do[part].float().square()).sum(0, keepdim=True)
    return dq.sqrt(), dk.sqrt(), dv.sqrt()


def make_inputs(
    specs: tuple[object, ...], values: dict[str, int], distribution: str, generator: torch.Generator
) -> list[Tensor]:
    """q, k, v and do as drawn, and the o and lse that belong to them."""
    shapes = [spec.shape for spec in specs if hasattr(spec, "shape")]
    dtype = torch.float16 if str(values["dtype"]) == "float16" else torch.bfloat16
    q, k, v, do = (_draw(shape, distribution, generator).to(dtype) for shape in _four(shapes))
    lse = torch.empty(q.shape[:3], dtype=torch.float32, device=q.device)
    o = torch.empty_like(q)
    for part, owner in _parts(q, k):
        scores = _scores(q, k, values["causal"], part, owner, torch.float32)
        lse[part] = scores.logsumexp(-1)
        o[part] = (scores.softmax(-1) @ v[owner].float()).to(dtype)
    return [q, k, v, o, do, lse]


_Place = tuple[slice, slice, slice]
"""Batches, heads, rows."""


def _parts(q: Tensor, k: Tensor) -> list[tuple[_Place, _Place]]:
    """Rows of q that do not have too many scores, and the keys and values that they belong to."""
    batches, heads, rows, _ = q.shape
    group = heads // k.shape[1]
    tall = max(1, min(rows, _SCORES // k.shape[2]))
    return [
        (
            (slice(b, b + 1), slice(head, head + 1), slice(row, min(row + tall, rows))),
            (slice(b, b + 1), slice(head // group, head // group + 1), slice(None)),
        )
        for b in range(batches)
        for head in range(heads)
        for row in range(0, rows, tall)
    ]


def _scores(
    q: Tensor, k: Tensor, causal: int, part: _Place, owner: _Place, dtype: torch.dtype
) -> Tensor:
    scores: Tensor = q[part].to(dtype) @ k[owner].to(dtype).mT / q.shape[-1] ** 0.5
    if causal:
        row = torch.arange(part[2].start, part[2].stop, device=q.device)[:, None]
        key = torch.arange(k.shape[2], device=q.device)
        scores.masked_fill_(key > row + (k.shape[2] - q.shape[2]), float("-inf"))
    return scores


def _changes(
    q: Tensor, k: Tensor, v: Tensor, o: Tensor, do: Tensor, lse: Tensor, causal: int,
    part: _Place, owner: _Place, dtype: torch.dtype,
) -> tuple[Tensor, Tensor]:  # fmt: skip
    """The weights of a part, and what its products of q and k must change by."""
    weights = (_scores(q, k, causal, part, owner, dtype) - lse[part].to(dtype)[..., None]).exp_()
    mean = (o[part].to(dtype) * do[part].to(dtype)).sum(-1, keepdim=True)
    changes = do[part].to(dtype) @ v[owner].to(dtype).mT - mean
    return weights, changes.mul_(weights).mul_(q.shape[-1] ** -0.5)


def _step_by_step(
    q: Tensor, k: Tensor, v: Tensor, o: Tensor, do: Tensor, lse: Tensor, causal: int
) -> tuple[Tensor, Tensor, Tensor]:
    """With products of the inputs' element type, as torch would do it without a fused kernel."""
    dq, dk, dv = (torch.zeros_like(x, dtype=torch.float32) for x in (q, k, v))
    for part, owner in _parts(q, k):
        weights, changes = _changes(q, k, v, o, do, lse, causal, part, owner, torch.float32)
        weights, changes = weights.to(q.dtype), changes.to(q.dtype)
        dq[part] = (changes @ k[owner]).float()
        dk[owner] += (changes.mT @ q[part]).float()
        dv[owner] += (weights.mT @ do[part]).float()
    return dq.to(q.dtype), dk.to(q.dtype), dv.to(q.dtype)


def _draw(shape: tuple[int, ...], distribution: str, generator: torch.Generator) -> Tensor:
    """Values of one tensor."""
    device = generator.device
    if distribution == "ties":
        return torch.randint(-2, 3, shape, generator=generator, device=device).float()
    values: Tensor = torch.randn(shape, generator=generator, device=device)
    if distribution == "outliers":
        chosen = torch.rand(shape, generator=generator, device=device) < 1e-3
        return torch.where(chosen, values * 20, values)
    return values


def _four(shapes: list[tuple[int, ...]]) -> list[tuple[int, ...]]:
    """Shapes of q, k, v and do."""
    return [shapes[0], shapes[1], shapes[2], shapes[4]]
