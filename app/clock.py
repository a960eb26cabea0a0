"""Two clocks: the wall's for what people read, a steady one for what times out."""

import time
from datetime import UTC, datetime

_BOOT_TIME_OFFSET = time.time() - time.clock_gettime(time.CLOCK_BOOTTIME)


def now() -> datetime:
    """The wall clock, in UTC."""
    return datetime.now(UTC)


def steady() -> float:
    """Seconds since 1970 that go on evenly when someone sets the wall clock."""
    return time.clock_gettime(time.CLOCK_BOOTTIME) + _BOOT_TIME_OFFSET
