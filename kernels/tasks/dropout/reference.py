"""Dropout: no one result is right, so a rule of its own accepts it."""

import math

import torch

SIGMAS = 6
NEAR, ALL, SEEDS = 0.1, 0.4, 0.25
"""The largest correlations: among the first START elements, among all, and of two seeds' masks.
Those of plain hashes of the place are up to 0.04, 0.25 and 0.21."""
FALSE_ALARM = 1e-9
"""How often a look at all distances blames independent draws by chance, at most."""
STEPS = {torch.float32: 2.0**-22, torch.float16: 2.0**-10, torch.bfloat16: 2.0**-7}
"""Twice the relative spacing of each type's numbers, for a product rounded twice."""
LEAST, START, FOLD = 2**12, 2**16, 3**4 * 5**6
"""Elements: the fewest that show a pattern, those looked at closely, and the period over which more
are added up: not a power of two, at multiples of which plain hashes are at their weakest."""
masks, starts = {}, {}
"""Of one submission: masks by case, and by seed and case what their starts deviate from p."""


def baseline(x: torch.Tensor, p: float, seed: int) -> torch.Tensor:
    """The dropout of torch, which seeds itself."""
    return torch.nn.functional.dropout(x, p)


def accept(arguments, results) -> str:
    """Every element zero or scaled, and those that are zero as if drawn one by one."""
    (x, p, seed), (y,) = arguments, results
    case, step = (seed, p, y.dtype, y.numel()), STEPS[y.dtype]
    x, y = x.double(), y.double()
    dropped = y == 0
    wanted = x / (1 - p) if p < 1 else torch.zeros_like(x)
    wrong = ~dropped & ~((y - wanted).abs() <= step * wanted.abs())
    if bool(wrong.any()):
        place = _first(wrong)
        return (
            f"y differs in {int(wrong.sum())} of {y.numel()} elements, first at {place}: "
            f"got {float(y[place]):.6g}, expected 0 or {float(wanted[place]):.6g}"
        )
    if case in masks:
        return _repeated(dropped, masks[case], seed)
    masks[case] = dropped
    found = _rate(dropped, p)
    if found or dropped.numel() < LEAST or not 0 < p < 1:
        return found
    return (
        _pattern(dropped[:START], p, NEAR)
        or _pattern(dropped, p, ALL)
        or _other_seeds(dropped, p, case)
    )


def make_inputs(specs, values, distribution, generator):
    """Numbers that are not zero, so that a zero in the result was dropped."""
    shape, device = specs[0].shape, generator.device
    x = torch.randn(shape, generator=generator, device=device)
    if distribution == "ties":
        return [torch.ones(shape, device=device)]
    x = x + torch.where(x < 0, -0.01, 0.01)
    return [x * 50 if distribution == "outliers" else x]


def _rate(dropped: torch.Tensor, p: float) -> str:
    count, size = int(dropped.sum()), dropped.numel()
    allowed = SIGMAS * math.sqrt(size * p * (1 - p))
    if abs(count - size * p) <= allowed + (0 < p < 1):
        return ""
    return f"{count} of {size} elements are dropped, expected {size * p:.0f} within {allowed:.0f}"


def _repeated(dropped: torch.Tensor, before: torch.Tensor, seed: int) -> str:
    differs = dropped ^ before
    if not bool(differs.any()):
        return ""
    return f"seed {seed} drops other elements than in an earlier run, first at {_first(differs)}"


def _pattern(dropped: torch.Tensor, p: float, most: float) -> str:
    """A correlation of the mask with itself, at any distance; those that FOLD apart are added."""
    size, variance = dropped.numel(), p * (1 - p)
    period = min(FOLD, size)
    rows = -(-size // period)
    padded = torch.nn.functional.pad(dropped.float() - p, (0, rows * period - size))
    folded = padded.view(rows, period).sum(0).cpu().double()
    found = _correlation(folded, folded)[: period // 2 + 1]
    count = int(dropped.sum())
    found[0] -= count * (1 - p) ** 2 + (size - count) * p**2  # each element with itself
    found[[0, -1]] /= 2  # each pair twice, at half an even period too
    found /= variance * size
    lag = int(found.abs().argmax())
    if abs(float(found[lag])) <= max(most, _chance(period, size / rows, _heaviest(p))):
        return ""
    return (
        f"whether an element is dropped goes along with the one {lag} places on (modulo {period}): "
        f"a correlation of {float(found[lag]):.2f}"
    )


def _other_seeds(dropped: torch.Tensor, p: float, case: tuple) -> str:
    """A correlation with the mask of another seed, at any distance."""
    seed, start = case[0], (dropped[:START].double() - p).cpu() / math.sqrt(p * (1 - p))
    for (other, theirs_p, *_), theirs in starts.items():
        if other == seed:
            continue
        size = min(len(start), len(theirs))
        found = _correlation(start[:size], theirs[:size]) / size
        lag = int(found.abs().argmax())
        heaviest = math.sqrt(_heaviest(p) * _heaviest(theirs_p))
        if abs(float(found[lag])) > max(SEEDS, _chance(size, size, heaviest)):
            return (
                f"what seed {seed} drops goes along with what seed {other} drops {lag} places on "
                f"(modulo {size}): a correlation of {float(found[lag]):.2f}"
            )
    starts[case] = start
    return ""


def _correlation(one: torch.Tensor, other: torch.Tensor) -> torch.Tensor:
    """Sums of products, one for each distance from 0 on; both ends are joined."""
    return torch.fft.irfft(torch.fft.rfft(one).conj() * torch.fft.rfft(other), len(one))


def _chance(lags: int, size: float, heaviest: float) -> float:
    """What the largest of so many correlations of independent draws exceeds so seldom.

    By Bernstein's inequality, for sums to which an element adds twice its heaviest at most.
    """
    log = math.log(2 * lags / FALSE_ALARM)
    skew = 2 * heaviest * log / (3 * size)
    return skew + math.sqrt(skew**2 + 2 * log / size)


def _heaviest(p: float) -> float:
    """The largest square of a deviation, in variances."""
    return max(p / (1 - p), (1 - p) / p)


def _first(marks: torch.Tensor) -> int:
    return int(marks.to(torch.uint8).argmax())
