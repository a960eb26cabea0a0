"""How numbers, sizes and times are written on pages."""

from collections.abc import Mapping
from datetime import UTC, datetime
from zoneinfo import ZoneInfo

from app.schemas import CaseDetail
from kernels.contract import DType, InstructionMix, TensorSpec
from kernels.contract.task import Value

_SIZES_SHOWN = 4
_TOGETHER = "\N{NO-BREAK SPACE}"


def significant(value: float, digits: int = 3) -> str:
    """Plain decimal notation with that many significant digits and thousands separators."""
    if value == 0:
        return "0"
    exponent = int(f"{value:.{digits - 1}e}".split("e")[1])
    return f"{value:,.{max(0, digits - 1 - exponent)}f}"


def microseconds(value: float) -> str:
    """A latency in microseconds, to a tenth of a percent or better."""
    return significant(value, 4)


def tera(value: float) -> str:
    """A rate in units of 10^12 per second."""
    return significant(value / 1e12)


def giga(value: float) -> str:
    """A rate in units of 10^9 per second."""
    return significant(value / 1e9)


def percent(share: float) -> str:
    """A share as a percentage."""
    return f"{significant(100 * share)} %"


def error(value: float) -> str:
    """A relative error, to two digits."""
    if value == 0 or 0.01 <= value < 1000:
        return significant(value, 2)
    mantissa, _, exponent = f"{value:.1e}".partition("e")
    return f"{mantissa}e{int(exponent)}" if exponent else mantissa


def data_size(count: int) -> str:
    """Bytes, in the largest binary unit that keeps the number above 1."""
    value, units = float(count), ["B", "KiB", "MiB", "GiB", "TiB"]
    while value >= 1024 and len(units) > 1:
        value, units = value / 1024, units[1:]
    return f"{significant(value)} {units[0]}" if units[0] != "B" else f"{count} B"


def magnitude(count: int) -> str:
    """A count with an SI prefix: 137 G."""
    value, units = float(count), ["", " k", " M", " G", " T", " P"]
    while value >= 1000 and len(units) > 1:
        value, units = value / 1000, units[1:]
    return f"{significant(value)}{units[0]}"


def moment(value: datetime) -> str:
    """A date and time in UTC, to the minute."""
    return f"{value.astimezone(UTC):%Y-%m-%d %H:%M} UTC"


def local_moment(value: datetime, zone: str) -> str:
    """A date and time in a time zone given by its IANA name, to the minute."""
    return f"{value.astimezone(ZoneInfo(zone)):%Y-%m-%d %H:%M %Z}"


def distance(value: datetime) -> str:
    """How far a moment is from now, to the minute: `in 3 h 20 min`, `2 d 1 h ago`."""
    seconds = (value - datetime.now(UTC)).total_seconds()
    minutes = round(abs(seconds) / 60)
    parts = (minutes // 1440, "d"), (minutes // 60 % 24, "h"), (minutes % 60, "min")
    written = " ".join(f"{count} {unit}" for count, unit in parts if count) or "0 min"
    return f"in {written}" if seconds > 0 else f"{written} ago"


def span(seconds: float) -> str:
    """A time one waits, roughly: `0.4 s`, `12 s`, `3 min`."""
    return f"{significant(seconds, 2)} s" if seconds < 100 else f"{round(seconds / 60)} min"


def clock_time(value: datetime) -> str:
    """A time of day in UTC, to the tenth of a second."""
    return f"{value.astimezone(UTC):%H:%M:%S.%f}"[:-5]


def sizes(values: Mapping[str, Value]) -> str:
    """The parameters of a case: `M 4096 · N 1024 · float16`, to be broken between two alone."""
    return " · ".join(_size(name, value) for name, value in values.items())


def _size(name: str, value: Value) -> str:
    if isinstance(value, DType):
        return value.value
    if not isinstance(value, tuple):
        return f"{name}{_TOGETHER}{value:,}"
    listed = ", ".join(f"{size:,}" for size in value[:_SIZES_SHOWN])
    more = f", … ({len(value)})" if len(value) > _SIZES_SHOWN else ""
    return f"{name}{_TOGETHER}{listed}{more}"


def noun(count: int, singular: str) -> str:
    """The noun for that many: `load`, `loads`."""
    return singular if count == 1 else f"{singular}s"


def instructions(mix: InstructionMix) -> str:
    """What a kernel's instructions are, shortly: `4 wgmma, 8 TMA, 2 loads of 16 B`."""
    counted = (
        (mix.wgmma, "wgmma"),
        (mix.mma, "mma"),
        (mix.tma, "TMA"),
        (mix.async_copies, "async copies"),
        *((count, f"{noun(count, 'load')} of {width} B") for width, count in mix.loads.items()),
        *((count, f"{noun(count, 'store')} of {width} B") for width, count in mix.stores.items()),
        (mix.local, "local"),
        (mix.special, "special"),
    )
    return ", ".join(f"{count} {name}" for count, name in counted if count)


def memory(case: CaseDetail) -> str:
    """Which arguments do not lie row-major from an aligned address; empty if all do."""
    notes = (_memory(a) for a in case.arguments if isinstance(a, TensorSpec))
    return ", ".join(note for note in notes if note)


def _memory(spec: TensorSpec) -> str:
    step, contiguous = 1, True
    for size, stride in zip(reversed(spec.shape), reversed(spec.strides), strict=True):
        contiguous = contiguous and (size == 1 or stride == step)
        step *= size
    if not contiguous:
        return f"{spec.name} has strides ({', '.join(map(str, spec.strides))})"
    return f"{spec.name} starts at element {spec.offset}" if spec.offset else ""
