"""The counters that Nsight Compute is asked for, by what they are called here."""

from collections.abc import Mapping

_ELAPSED = "avg.pct_of_peak_sustained_elapsed"
_ACTIVE = "avg.pct_of_peak_sustained_active"
_STALL = "smsp__average_warps_issue_stalled_"
_PER_ISSUE = "_per_issue_active.ratio"
_LSU = "l1tex__data_"

NANOSECONDS = "gpu__time_duration.sum"
WAVES = "launch__waves_per_multiprocessor"

SHARES: Mapping[str, str] = {
    "compute": f"sm__throughput.{_ELAPSED}",
    "memory": f"gpu__compute_memory_throughput.{_ELAPSED}",
    "dram": f"gpu__dram_throughput.{_ELAPSED}",
    "l2_hits": "lts__t_sector_hit_rate.pct",
    "occupancy": f"sm__warps_active.{_ACTIVE}",
    "occupancy_limit": "sm__maximum_warps_per_active_cycle_pct",
    "special": f"sm__inst_executed_pipe_xu.{_ACTIVE}",
    "tensor": f"sm__pipe_tensor_cycles_active.{_ELAPSED}",
}
"""In percent."""

REQUESTS: Mapping[str, tuple[str, str]] = {
    f"{name}_sectors": (
        f"l1tex__t_sectors_pipe_lsu_mem_global_op_{short}.sum",
        f"l1tex__t_requests_pipe_lsu_mem_global_op_{short}.sum",
    )
    for name, short in (("load", "ld"), ("store", "st"))
}
"""Sectors and the requests they were for."""

USED_BYTES: Mapping[str, str] = {
    f"{name}_use": f"smsp__sass_average_data_bytes_per_sector_mem_global_op_{short}.ratio"
    for name, short in (("load", "ld"), ("store", "st"))
}
"""Bytes of each 32-byte sector that threads asked for."""

CONFLICTS = tuple(
    f"{_LSU}bank_conflicts_pipe_lsu_mem_shared_op_{short}.sum" for short in ("ld", "st")
)
WAVEFRONTS = tuple(f"{_LSU}pipe_lsu_wavefronts_mem_shared_op_{short}.sum" for short in ("ld", "st"))

BLOCK_LIMITS: Mapping[str, str] = {
    "registers": "launch__occupancy_limit_registers",
    "shared memory": "launch__occupancy_limit_shared_mem",
    "warps": "launch__occupancy_limit_warps",
    "blocks": "launch__occupancy_limit_blocks",
}
"""Blocks of a multiprocessor that each resource would allow."""

STALLS: Mapping[str, str] = {
    name: f"{_STALL}{name}{_PER_ISSUE}"
    for name in (
        "barrier", "branch_resolving", "dispatch_stall", "drain", "gmma", "imc_miss",
        "lg_throttle", "long_scoreboard", "math_pipe_throttle", "membar", "mio_throttle", "misc",
        "no_instruction", "not_selected", "selected", "short_scoreboard", "sleeping",
        "tex_throttle", "wait",
    )
}  # fmt: skip
"""Warps in each state, for each instruction that is issued."""

METRICS: tuple[str, ...] = (
    NANOSECONDS,
    WAVES,
    *SHARES.values(),
    *(name for pair in REQUESTS.values() for name in pair),
    *USED_BYTES.values(),
    *CONFLICTS,
    *WAVEFRONTS,
    *BLOCK_LIMITS.values(),
    *STALLS.values(),
)
