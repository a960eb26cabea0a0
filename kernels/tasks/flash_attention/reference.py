"""softmax(Q Kᵀ / √D) V: the exact result, torch's, and how much rounding is allowed."""

import torch

Tensor = torch.Tensor

_SCORES = 1 << 27
"""Most scores that are held at once; in double precision 1 GiB."""

_BACKENDS = [
    torch.nn.attention.SDPBackend.CUDNN_ATTENTION,
    torch.nn.attention.SDPBackend.FLASH_ATTENTION,
    torch.nn.attention.SDPBackend.MATH,
]
"""The fastest first."""

_attend = torch.nn.functional.scaled_dot_product_attention


def reference(q: Tensor, k: Tensor, v: Tensor, causal: int) -> Tensor:
    """Attention in double precision, some heads at a time; a row that sees no key gives zeros."""
    result = torch.empty_like(q, dtype=torch.float64, memory_format=torch.contiguous_format)
    for part in _parts(q, k):
        weights, values = _weights(q, k, v, causal, part, torch.float64)
        result[part] = weights @ values
    return result


def baseline(q: Tensor, k: Tensor, v: Tensor, causal: int) -> Tensor:
    """Attention by torch in the inputs' own element type; on a GPU by cuDNN where it can."""
    grouped = q.shape[1] != k.shape[1]
    if not causal or q.shape[2] == k.shape[2]:
        with torch.nn.attention.sdpa_kernel(_BACKENDS, set_priority=True):
            return _attend(q, k, v, is_causal=bool(causal), enable_gqa=grouped)
    visible = _visible(q.shape[2], k.shape[2], slice(0, q.shape[2]), q.device)
    result = _attend(q, k, v, attn_mask=visible, enable_gqa=grouped)
    return torch.where(visible.any(-1)[:, None], result, 0.0)


def slack(q: Tensor, k: Tensor, v: Tensor, causal: int) -> Tensor:
    """What rounding the weights to the element type, and the scores to single precision, may cost.

    A weight may be half an ulp off, with float16 half its smallest step if it is small, and a score
    what a sum in single precision is. These errors are independent, so they add as squares.
    Rounding is off by 0.4 units, or 0.6 steps, on average: 2.5 units and 3.5 steps are six
    deviations, beyond which none of a hundred million elements should lie.
    """
    kind = torch.finfo(q.dtype)
    reach = q.float().norm(dim=-1) * k.float().norm(dim=-1).amax() / q.shape[-1] ** 0.5
    share = 2.5 * (kind.eps / 2 + reach * 2.0**-22)
    step = 3.5 * kind.smallest_normal * kind.eps / 2
    result = torch.empty_like(q, dtype=torch.float32, memory_format=torch.contiguous_format)
    for part in _parts(q, k):
        weights, values = _weights(q, k, v, causal, part, torch.float32)
        # The largest weight is 1 before all are divided by their sum.
        least = weights.amax(-1, keepdim=True) * step
        off = weights.mul_(share[part][..., None]).square_().add_(least.square_())
        result[part] = (off @ values.square()).sqrt()
    return result


_Part = tuple[int, slice, slice]
"""A batch, some of its heads, some of their rows."""


def _parts(q: Tensor, k: Tensor) -> list[_Part]:
    """The whole of q in parts that do not have too many scores."""
    batch, heads, rows, _ = q.shape
    keys = k.shape[2]
    wide = max(1, min(heads, _SCORES // (rows * keys)))
    tall = max(1, min(rows, _SCORES // keys))
    return [
        (b, slice(head, min(head + wide, heads)), slice(row, min(row + tall, rows)))
        for b in range(batch)
        for head in range(0, heads, wide)
        for row in range(0, rows, tall)
    ]


def _weights(
    q: Tensor, k: Tensor, v: Tensor, causal: int, part: _Part, dtype: torch.dtype
) -> tuple[Tensor, Tensor]:
    """Softmax of a part's scores, and the values that it weighs."""
    batch, heads, rows = part
    owners = torch.arange(heads.start, heads.stop, device=q.device) // (q.shape[1] // k.shape[1])
    scores = q[part].to(dtype) @ k[batch, owners].to(dtype).mT / q.shape[-1] ** 0.5
    if causal:
        visible = _visible(q.shape[2], k.shape[2], rows, q.device)
        scores.masked_fill_(~visible, float("-inf"))
    # A row that sees no key has no softmax: 0/0.
    return scores.softmax(-1).nan_to_num_(0.0), v[batch, owners].to(dtype)


def _visible(queries: int, keys: int, rows: slice, device: torch.device) -> Tensor:
    """Which keys some of the rows see: the last row of all sees every key."""
    row = torch.arange(rows.start, rows.stop, device=device)[:, None]
    return torch.arange(keys, device=device) <= row + (keys - queries)
