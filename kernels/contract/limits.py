"""Bounds of everything that crosses from untrusted to trusted."""

KIB, MIB, GIB = 1 << 10, 1 << 20, 1 << 30

SOURCE_BYTES = 256 * KIB
"""A submission; the largest public kernel file we know has 130 KiB, and Python's parser slows
down far beyond this."""

CASES = 64
STEPS = 2_000
"""Device operations per case; host code that is really a CPU program over tensors issues more."""

BUFFERS = 4_096
CASE_BYTES = 64 * GIB
"""Device memory of one case, buffers and guards."""

ELEMENTS = 2**31 - 1
"""Of an input or output, from the start of its buffer to its last: offsets in it fit int32."""

HOST_VISIBLE_ELEMENTS = 65_536
"""Of one input whose values host code may read."""

KERNELS = 1_024
ARGUMENTS = 256
ALTERNATIVES = 64
"""Autotune configurations kept per choice."""

DROPPED = 1_024
"""Autotune configurations named as dropped; a note counts them all."""

RANK = 8
RELOCATIONS = 65_536
CUBIN_BYTES = 8 * MIB
TEXT_BYTES = 16 * MIB
"""One compiler text (TTIR, TTGIR, PTX), uncompressed."""

BLOBS = 4_096
PLAN_JSON_BYTES = 32 * MIB
BUNDLE_BYTES = 128 * MIB
LOG_BYTES = 64 * KIB
SCRATCH_BYTES = 1 * GIB
"""Global scratch of one launch (device-side tensor descriptors)."""

GRID_X = 2**31 - 1
GRID_YZ = 65_535
GRID_PRODUCT = 2**31 - 1
"""Triton skips a launch whose product overflows int32, without a word: such a grid is refused."""

PATIENCE = 20
"""A build may take this many times its processor time by the clock, so that a busy machine changes
no verdict; unless it stands still."""
STILL_PATIENCE = 4
"""What uses next to no processor, for so many times a build's processor time by the clock, waits
for something that will not come."""

SHARED_BYTES = 232_448
THREADS = 1_024
CLUSTER = 16
