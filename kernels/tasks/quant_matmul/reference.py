"""Y = X @ W with W of 4 bits: the exact result, torch's, and how much rounding is allowed."""

import torch

Tensor = torch.Tensor


def reference(x: Tensor, qweight: Tensor, scales: Tensor, qzeros: Tensor) -> Tensor:
    """The product in double precision."""
    return x.double() @ _weights(qweight, scales, qzeros).double()


def baseline(x: Tensor, qweight: Tensor, scales: Tensor, qzeros: Tensor) -> Tensor:
    """The product by torch: unpacks the weights to float16 first."""
    return x @ _weights(qweight, scales, qzeros)


def slack(x: Tensor, qweight: Tensor, scales: Tensor, qzeros: Tensor) -> Tensor:
    """What summing in single precision may cost: a share of the sum of the terms' magnitudes.

    Of terms as large as those with q alone: who subtracts z from the sum, not from each weight,
    rounds them. 2^-19 is what `matmul` allows.
    """
    largest = 15 * scales.double().repeat_interleave(x.shape[1] // scales.shape[0], 0)
    share = 2.0**-19 * max(1.0, x.shape[1] / 8192)
    return (x.double().abs() @ largest) * share


def make_inputs(
    specs: tuple[object, ...],
    values: dict[str, object],
    distribution: str,
    generator: torch.Generator,
) -> list[Tensor]:
    """x as the distribution says; random weights and zeros; scales of seven significant bits."""
    x, qweight, scales, qzeros = (spec.shape for spec in specs)  # type: ignore[attr-defined]
    bits = torch.randint(64, 128, scales, generator=generator, device=generator.device)
    return [
        _draw(x, distribution, generator),
        _words(qweight, generator),
        bits / 16384,
        _words(qzeros, generator),
    ]


def _weights(qweight: Tensor, scales: Tensor, qzeros: Tensor) -> Tensor:
    """All weights in float16, in which they are exact."""
    shifts = torch.arange(0, 32, 4, device=qweight.device, dtype=torch.int32)
    q = (qweight[:, None, :] >> shifts[:, None]).bitwise_and_(15)
    z = (qzeros[:, :, None] >> shifts).bitwise_and_(15)
    groups, N = scales.shape
    q = q.view(groups, -1, N) - z.view(groups, 1, N)
    return (q.half() * scales[:, None, :]).view(-1, N)


def _words(shape: tuple[int, ...], generator: torch.Generator) -> Tensor:
    where = generator.device
    words = torch.randint(-(2**31), 2**31, shape, generator=generator, device=where)
    return words.to(torch.int32)


def _draw(shape: tuple[int, ...], distribution: str, generator: torch.Generator) -> Tensor:
    where = generator.device
    if distribution == "ties":
        return torch.randint(-4, 5, shape, generator=generator, device=where).float()
    x = torch.randn(shape, generator=generator, device=where)
    if distribution == "offset":
        x += 30
    elif distribution == "tiny":
        x *= 1e-3
    elif distribution == "outliers":
        chosen = torch.rand(shape, generator=generator, device=where) < 1e-3
        x = torch.where(chosen, 50 * x, x)
    elif distribution == "constant_rows":
        x = x[:, :1].expand(shape)
    return x
