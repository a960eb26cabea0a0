"""What counters mean, in sentences; each only where its counters leave no doubt."""

from collections.abc import Callable, Iterator

from kernels.contract.inspection import KernelProfile

_NEAR_LIMIT = 0.8
_IDLE = 0.6
"""Below this share of both limits neither is what a kernel waits for."""

_MUCH = 0.3
"""Share of a warp's time in one state that is worth a sentence."""

_POOR_USE = 0.6
_CONFLICTS = 0.2
_LOW_OCCUPANCY = 0.3
_FULL_WAVE = 0.8
_ONE_WAVE = 1.0

_BUSY_MEMORY = 0.7
_FOR_MEMORY = ("long_scoreboard", "lg_throttle", "drain")
"""What warps cannot but wait for where memory is that busy."""

_WAITS = {
    "long_scoreboard": (
        "warps wait for global memory: load earlier (num_stages), load more at a time, or keep "
        "more warps resident"
    ),
    "short_scoreboard": (
        "warps wait for shared memory or the special-function unit: fewer exponentials, fewer "
        "reductions across warps, or fewer warps per block"
    ),
    "barrier": "warps wait for each other at barriers: fewer warps per block, or fewer reductions",
    "math_pipe_throttle": "warps wait for a busy arithmetic unit",
    "mio_throttle": "the queue to shared memory and special functions is full",
    "lg_throttle": "the queue to global memory is full: make each access wider",
    "gmma": "warps wait for the tensor cores, as a good matrix product does",
    "wait": "warps wait for fixed latencies of dependent instructions",
    "drain": "warps wait for their stores at the end: make each program do more work",
    "no_instruction": "warps wait for instructions: the code is too long or jumps too much",
    "membar": "warps wait at memory fences",
    "sleeping": "warps sleep",
    "branch_resolving": "warps wait for branches",
}


def findings(profile: KernelProfile) -> tuple[str, ...]:
    """At most eight sentences on one launch, the most important first."""
    found = [sentence for rule in _RULES for sentence in rule(profile)]
    return tuple(found[:8])


def _limit(profile: KernelProfile) -> Iterator[str]:
    memory, compute = profile.memory, profile.compute
    if memory is None or compute is None:
        return
    if memory >= _NEAR_LIMIT and memory >= compute:
        yield _memory_limit(memory, profile.dram)
    elif compute >= _NEAR_LIMIT:
        yield f"It runs at {compute:.0%} of what the multiprocessors sustain: compute less."
    elif max(memory, compute) < _IDLE:
        yield (
            f"Neither memory ({memory:.0%}) nor arithmetic ({compute:.0%}) is near its limit: "
            "it waits, or does not fill the GPU."
        )


def _memory_limit(memory: float, dram: float | None) -> str:
    if dram is None or dram >= _NEAR_LIMIT:
        return f"It runs at {memory:.0%} of what the memory system sustains: move fewer bytes."
    return (
        f"It runs at {memory:.0%} of what caches and shared memory sustain, and device memory is "
        f"{dram:.0%} busy: use each byte more often once it is loaded, in larger blocks."
    )


def _waves(profile: KernelProfile) -> Iterator[str]:
    waves = profile.waves
    if waves is None:
        return
    if waves < _FULL_WAVE:
        yield f"The grid fills {waves:.0%} of the GPU's block slots: use smaller blocks or split."
    elif _ONE_WAVE < waves < 3 and waves % 1 and waves % 1 < 0.5:
        yield (
            f"The grid is {waves:.2f} waves of blocks, and the last is mostly empty: "
            "choose blocks so that the number is just below a whole one."
        )


def _coalescing(profile: KernelProfile) -> Iterator[str]:
    for use, what, cause in (
        (profile.load_use, "loads", "fetched"),
        (profile.store_use, "stores", "written"),
    ):
        if use is not None and 0 < use < _POOR_USE:
            yield (
                f"Of the bytes that its {what} have {cause} {use:.0%} are used: "
                "let neighbouring threads use neighbouring addresses."
            )


def _conflicts(profile: KernelProfile) -> Iterator[str]:
    share = profile.bank_conflicts
    if share is not None and share > _CONFLICTS:
        yield f"{share:.0%} of its shared-memory accesses only serve bank conflicts."


def _occupancy(profile: KernelProfile) -> Iterator[str]:
    reached, most = profile.occupancy, profile.occupancy_limit
    busy = max(profile.memory or 0, profile.compute or 0, profile.tensor or 0)
    if reached is None or most is None or busy >= _NEAR_LIMIT:
        return
    if most < _LOW_OCCUPANCY and profile.limited_by:
        limits = " and ".join(profile.limited_by)
        yield f"{most:.0%} of the warps can be resident, limited by {limits}."
    elif reached < 0.6 * most and (profile.waves or 1) >= _FULL_WAVE:
        yield f"{most:.0%} of the warps could be resident, {reached:.0%} are: blocks end unevenly."


def _stalls(profile: KernelProfile) -> Iterator[str]:
    working = ("selected", "not_selected")
    waiting = next((stall for stall in profile.stalls if stall.reason not in working), None)
    if waiting is None or waiting.share < _MUCH or waiting.reason not in _WAITS:
        return
    if waiting.reason not in _FOR_MEMORY or (profile.memory or 0) < _BUSY_MEMORY:
        yield f"For {waiting.share:.0%} of the time {_WAITS[waiting.reason]}."


def _special(profile: KernelProfile) -> Iterator[str]:
    if profile.special is not None and profile.special >= _NEAR_LIMIT:
        yield (
            f"The special-function unit is {profile.special:.0%} busy: use fewer exponentials, "
            "divisions and conversions."
        )


_RULES: tuple[Callable[[KernelProfile], Iterator[str]], ...] = (
    _limit,
    _waves,
    _coalescing,
    _conflicts,
    _stalls,
    _occupancy,
    _special,
)
