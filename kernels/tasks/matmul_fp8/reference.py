"""C = scale_a * scale_b * A @ B of e4m3 matrices: the exact result, torch's, allowed rounding."""

import torch

Tensor = torch.Tensor

_LARGEST = 448.0
"""The largest e4m3 number."""


def reference(a: Tensor, b: Tensor, scale_a: Tensor, scale_b: Tensor) -> Tensor:
    """The scaled product in double precision."""
    return (a.double() @ b.double()) * (scale_a.double() * scale_b.double())


def baseline(a: Tensor, b: Tensor, scale_a: Tensor, scale_b: Tensor) -> Tensor:
    """The same by torch: by cuBLASLt where it can, which wants N to be a multiple of 16."""
    if a.is_cuda and b.shape[1] % 16 == 0:
        return torch._scaled_mm(
            a, b, scale_a, scale_b, out_dtype=torch.bfloat16, use_fast_accum=True
        )
    return ((a.float() @ b.float()) * (scale_a * scale_b)).to(torch.bfloat16)


def slack(a: Tensor, b: Tensor, scale_a: Tensor, scale_b: Tensor) -> Tensor:
    """What the tensor cores' sums of fp8 products may cost.

    On an H200 their error grew with K to 3.4e-5 of the sum of the terms' magnitudes at K = 8192, as
    a standard deviation, in cuBLASLt as in Triton. 2^-12 is seven times that, which none of the
    elements of a large product exceeds.
    """
    terms = a.double().abs() @ b.double().abs()
    return terms * (scale_a.double() * scale_b.double()).abs() * 2.0**-12


def make_inputs(
    specs: tuple[object, ...],
    values: dict[str, object],
    distribution: str,
    generator: torch.Generator,
) -> list[Tensor]:
    """Matrices as whoever quantises makes them: divided by a scale that uses the whole range."""
    quantised, scales = [], []
    for spec in specs[:2]:
        x = _draw(spec.shape, distribution, generator)  # type: ignore[attr-defined]
        scale = (x.abs().amax() / _LARGEST).clamp(min=1e-12).reshape(1)
        quantised.append((x / scale).clamp(-_LARGEST, _LARGEST).to(torch.float8_e4m3fn))
        scales.append(scale)
    return quantised + scales


def _draw(shape: tuple[int, ...], distribution: str, generator: torch.Generator) -> Tensor:
    where = generator.device
    if distribution == "ties":
        return torch.randint(-4, 5, shape, generator=generator, device=where).float()
    x = torch.randn(shape, generator=generator, device=where)
    if distribution == "offset":
        x += 4  # nearly all positive, so that sums grow and none of their bits may be lost
    elif distribution == "tiny":
        x *= 1e-3
    elif distribution == "outliers":
        chosen = torch.rand(shape, generator=generator, device=where) < 1e-3
        x = torch.where(chosen, 50 * x, x)
    elif distribution == "constant_rows":
        x = x[:, :1].expand(shape)
        x = x * (torch.arange(shape[0], device=where) % 4 != 1)[:, None]
    return x
