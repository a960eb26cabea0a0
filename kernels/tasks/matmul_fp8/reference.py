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

    They keep about 14 bits. On an H200 the error of a sum of normal numbers grew with K to 3.4e-5
    of the sum of the terms' magnitudes at K = 8192, as a standard deviation, in cuBLASLt as in
    Triton. 2^-13 is 3.6 times that: few elements exceed it, and `violations` in task.toml lets
    them. A sum that is rounded to bfloat16 every 32 terms is off by more as a whole.
    """
    terms = a.double().abs() @ b.double().abs()
    return terms * (scale_a.double() * scale_b.double()).abs() * 2.0**-13


def make_inputs(
    specs: tuple[object, ...],
    values: dict[str, object],
    distribution: str,
    generator: torch.Generator,
) -> list[Tensor]:
    """Matrices as whoever quantises makes them: divided by a scale that uses the whole range."""
    quantised, scales = [], []
    # Were both shifted, no sum would cancel, and those of the tensor cores would be off by 7 %.
    others = "normal" if distribution == "offset" else distribution
    for spec, drawn in ((specs[0], distribution), (specs[1], others)):
        x = _draw(spec.shape, drawn, generator)  # type: ignore[attr-defined]
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
        x += 4
    elif distribution == "tiny":
        x *= 1e-3
    elif distribution == "outliers":
        chosen = torch.rand(shape, generator=generator, device=where) < 1e-3
        x = torch.where(chosen, 50 * x, x)
    elif distribution == "constant_rows":
        x = x[:, :1].expand(shape)
        x = x * (torch.arange(shape[0], device=where) % 4 != 1)[:, None]
    return x
