from datetime import UTC, datetime, timedelta, timezone

import pytest

from app.pages import formats
from app.schemas import CaseDetail
from kernels.contract import DType, NumberSpec, TensorSpec
from kernels.contract.compiler import InstructionMix


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (0, "0"),
        (0.00123456, "0.00123"),
        (1.0, "1.00"),
        (9.999, "10.0"),
        (31.416, "31.4"),
        (999.6, "1,000"),
        (4272.4, "4,272"),
        (1e12, "1,000,000,000,000"),
    ],
)
def test_significant_keeps_digits_not_decimals(value: float, shown: str) -> None:
    assert formats.significant(value) == shown


def test_one_is_not_many() -> None:
    mix = InstructionMix(
        total=3, wgmma=0, mma=0, tma=0, async_copies=0, loads={"4": 1}, stores={"2": 2},
        local=0, special=0,
    )  # fmt: skip
    assert formats.instructions(mix) == "1 load of 4 B, 2 stores of 2 B"


def test_units() -> None:
    assert formats.microseconds(31.4159) == "31.42"
    assert formats.tera(655.3e12) == "655"
    assert formats.giga(4.272e12) == "4,272"
    assert formats.percent(0.0421) == "4.21 %"
    assert formats.data_size(40) == "40 B"
    assert formats.data_size(1024) == "1.00 KiB"
    assert formats.data_size(512 << 20) == "512 MiB"
    assert formats.magnitude(137_438_953_472) == "137 G"
    assert formats.magnitude(0) == "0"


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (0, "0"),
        (3.14e-4, "3.1e-4"),
        (1.8e-32, "1.8e-32"),
        (0.0123, "0.012"),
        (0.5, "0.50"),
        (98.7, "99"),
        (131_000, "1.3e5"),
        (float("inf"), "inf"),
    ],
)
def test_errors_are_plain_where_that_is_short(value: float, shown: str) -> None:
    assert formats.error(value) == shown


def test_times_are_utc() -> None:
    east = datetime(2026, 5, 4, 1, 30, 2, 340_000, tzinfo=timezone(timedelta(hours=2)))
    assert formats.moment(east) == "2026-05-03 23:30 UTC"
    assert formats.clock_time(east.astimezone(UTC)) == "23:30:02.3"


def test_sizes_of_a_case() -> None:
    found = formats.sizes({"M": 4096, "dtype": DType.BFLOAT16})
    assert found == "M\N{NO-BREAK SPACE}4,096 · bfloat16"


def test_memory_names_only_unusual_arguments() -> None:
    def spec(name: str, strides: tuple[int, int], offset: int = 0) -> TensorSpec:
        return TensorSpec(
            name=name, shape=(4, 8), strides=strides, offset=offset, dtype=DType.FLOAT16
        )

    case = CaseDetail(
        name="case",
        kind="test",
        values={},
        arguments=(
            spec("plain", (8, 1)),
            spec("turned", (1, 4)),
            spec("shifted", (8, 1), 1),
            NumberSpec(name="number", value=1),
        ),
        results=(),
        flops=0,
        bytes=0,
    )
    assert formats.memory(case) == "turned has strides (1, 4), shifted starts at element 1"


@pytest.mark.parametrize(
    ("zone", "shown"),
    [("UTC", "2027-07-01 12:00 UTC"), ("Europe/Berlin", "2027-07-01 14:00 CEST")],
)
def test_moments_in_a_zone(zone: str, shown: str) -> None:
    assert formats.local_moment(datetime(2027, 7, 1, 12, tzinfo=UTC), zone) == shown


@pytest.mark.parametrize(
    ("distance", "shown"),
    [
        (timedelta(hours=3, minutes=20, seconds=5), "in 3 h 20 min"),
        (timedelta(days=2, hours=1, seconds=5), "in 2 d 1 h"),
        (-timedelta(minutes=5, seconds=5), "5 min ago"),
        (timedelta(seconds=5), "in 0 min"),
    ],
)
def test_distances(distance: timedelta, shown: str) -> None:
    assert formats.distance(datetime.now(UTC) + distance) == shown


@pytest.mark.parametrize(
    ("seconds", "shown"), [(0.42, "0.42 s"), (7.04, "7.0 s"), (99.4, "99 s"), (180.0, "3 min")]
)
def test_spans_are_rough(seconds: float, shown: str) -> None:
    assert formats.span(seconds) == shown
