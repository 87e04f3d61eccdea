"""A bound contains every value, and says so when it isn't one itself."""

import datetime as dt
import struct
from decimal import Decimal
from fractions import Fraction
from typing import Any
from zoneinfo import ZoneInfo

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.types import ORDERED, typed_values

from floecat.types import logical as types
from floecat.types.bounds import Bound, lower_bound, upper_bound
from floecat.types.kinds import Kind
from floecat.types.logical import LogicalType
from floecat.types.mapping.parquet import Annotation, ParquetColumn
from floecat.types.mapping.parquetvalues import decode_parquet_value
from floecat.types.ordering import comparator
from floecat.types.policy import TimestampPolicy
from floecat.types.values.plain import read_value

INT96 = ParquetColumn("a", "INT96", Annotation("NONE"))
JULIAN_EPOCH = 2_440_588
BERLIN = TimestampPolicy(ZoneInfo("Europe/Berlin"))
SECONDS = LogicalType(Kind.TIMESTAMP, temporal_precision=0)


@pytest.mark.parametrize(
    "value",
    [
        np.datetime64(1_500, "ns"),
        pa.scalar(1_500, pa.timestamp("ns")),
        "1970-01-01T00:00:00.0000015",
    ],
)
def test_nanoseconds_go_past_for_min_and_future_for_max(value: object) -> None:
    low, high = "1970-01-01T00:00:00.000001", "1970-01-01T00:00:00.000002"
    assert lower_bound(types.TIMESTAMP, value) == Bound(low, is_tight=False)
    assert upper_bound(types.TIMESTAMP, value) == Bound(high, is_tight=False)


def test_before_the_epoch_past_is_still_past() -> None:
    value = np.datetime64(-1, "ns")
    low, high = "1969-12-31T23:59:59.999999Z", "1970-01-01T00:00:00Z"
    assert lower_bound(types.TIMESTAMPTZ, value) == Bound(low, is_tight=False)
    assert upper_bound(types.TIMESTAMPTZ, value) == Bound(high, is_tight=False)


def test_an_explicit_precision_rounds_the_same_way() -> None:
    value = dt.datetime(2024, 1, 1, 0, 0, 0, 1)  # noqa: DTZ001  # a wall clock on purpose
    assert lower_bound(SECONDS, value) == Bound("2024-01-01T00:00:00", is_tight=False)
    assert upper_bound(SECONDS, value) == Bound("2024-01-01T00:00:01", is_tight=False)


def test_whole_microseconds_are_tight() -> None:
    value = np.datetime64(2_000, "ns")
    bound = Bound("1970-01-01T00:00:00.000002", is_tight=True)
    assert lower_bound(types.TIMESTAMP, value) == upper_bound(types.TIMESTAMP, value) == bound


def test_a_source_that_truncates_says_so() -> None:
    assert lower_bound(types.STRING, "ab", is_tight=False) == Bound("ab", is_tight=False)


def test_the_last_nanosecond_of_a_day_has_no_upper_bound() -> None:
    value = pa.scalar(86_399_999_999_999, pa.time64("ns"))
    assert lower_bound(types.TIME, value) == Bound("23:59:59.999999", is_tight=False)
    assert upper_bound(types.TIME, value) is None


@pytest.mark.parametrize("kind", [kind for kind in Kind if not kind.is_orderable])
def test_kinds_without_order_have_no_bounds(kind: Kind) -> None:
    assert lower_bound(LogicalType(kind), "P1D") is None
    assert upper_bound(LogicalType(kind), "P1D") is None


@pytest.mark.parametrize("logical", [types.FLOAT, types.DOUBLE])
def test_nan_bounds_nothing(logical: LogicalType) -> None:
    assert lower_bound(logical, float("nan")) is None
    assert upper_bound(logical, "NaN") is None


def test_an_empty_string_is_a_bound() -> None:
    assert lower_bound(types.STRING, "") == Bound("", is_tight=True)


@given(typed_values(ORDERED), st.none() | st.integers(0, 6))
def test_bounds_contain_their_value(typed: tuple[LogicalType, Any], precision: int | None) -> None:
    logical, value = typed
    if logical.kind.is_temporal:
        logical = LogicalType(logical.kind, temporal_precision=precision)
    compare = comparator(logical)
    low, high = lower_bound(logical, value), upper_bound(logical, value)
    if low is not None:
        order = compare(low.encoded, value)
        assert order == 0 if low.is_tight else order < 0
    if high is not None:
        order = compare(high.encoded, value)
        assert order == 0 if high.is_tight else order > 0


@given(st.integers(-(2**63) + 10_000, 2**63 - 10_000))
def test_nanosecond_bounds_enclose_within_a_microsecond(nanos: int) -> None:
    value = np.datetime64(nanos, "ns")
    low, high = lower_bound(types.TIMESTAMP, value), upper_bound(types.TIMESTAMP, value)
    assert low is not None
    assert high is not None
    width = np.datetime64(high.encoded, "ns") - np.datetime64(low.encoded, "ns")
    assert width == np.timedelta64(1_000 if nanos % 1_000 else 0, "ns")
    assert low.is_tight == high.is_tight == (nanos % 1_000 == 0)


def test_decimals_are_exact() -> None:
    value = Decimal("0.1")
    assert lower_bound(types.DECIMAL, value) == upper_bound(types.DECIMAL, value)


def test_the_last_nanosecond_of_the_year_9999_is_below_its_upper_bound() -> None:
    day = dt.date(9999, 12, 31).toordinal() - dt.date(1970, 1, 1).toordinal()
    value = decode_parquet_value(INT96, struct.pack("<qi", 86_399_999_999_999, day + JULIAN_EPOCH))
    low = Bound("9999-12-31T23:59:59.999999Z", is_tight=False)
    assert lower_bound(types.TIMESTAMPTZ, value) == low
    high = Bound("+10000-01-01T00:00:00Z", is_tight=False)
    assert upper_bound(types.TIMESTAMPTZ, value) == high


def assert_encloses(logical: LogicalType, value: object, nanos: int) -> None:
    low, high = lower_bound(logical, value), upper_bound(logical, value)
    assert low is not None
    assert high is not None
    below = read_value(logical, low.encoded, TimestampPolicy())
    above = read_value(logical, high.encoded, TimestampPolicy())
    assert below <= nanos <= above  # type: ignore[operator]  # both are ints
    assert low.is_tight == (below == nanos)
    assert high.is_tight == (above == nanos)


@given(st.integers(-(2**63), 2**63 - 1), st.integers(-(2**31), 2**31 - 1))
def test_bounds_enclose_every_int96(nanos: int, julian_day: int) -> None:
    value = decode_parquet_value(INT96, struct.pack("<qi", nanos, julian_day))
    exact = (julian_day - JULIAN_EPOCH) * 86_400_000_000_000 + nanos
    assert_encloses(types.TIMESTAMP, value, exact)


@given(
    st.integers(-(2**63), 2**63 - 1) | st.sampled_from([-(2**63), 2**63 - 1]),
    st.sampled_from([("ms", 1_000_000), ("us", 1_000), ("ns", 1)]),
)
def test_bounds_enclose_every_count(count: int, unit: tuple[str, int]) -> None:
    column = ParquetColumn("a", "INT64", Annotation("TIMESTAMP", unit=unit[0]))
    value = decode_parquet_value(column, struct.pack("<q", count))
    assert_encloses(types.TIMESTAMP, value, count * unit[1])


def test_a_clock_that_is_about_to_be_put_back_has_an_earlier_lower_bound() -> None:
    bound = lower_bound(types.TIMESTAMP, "2024-10-27T00:45:00Z", policy=BERLIN)
    assert bound == Bound("2024-10-27T02:00:00", is_tight=False)


def test_a_clock_that_was_just_put_back_has_a_later_upper_bound() -> None:
    bound = upper_bound(types.TIMESTAMP, "2024-10-27T01:15:00Z", policy=BERLIN)
    assert bound == Bound("2024-10-27T03:00:00", is_tight=False)


@pytest.mark.parametrize("value", ["2024-10-26T22:00:00Z", "2024-10-27T02:00:00Z"])
def test_away_from_the_overlap_bounds_are_tight(value: str) -> None:
    wall = BERLIN.wall_clock(read_value(types.TIMESTAMPTZ, value, BERLIN))  # type: ignore[arg-type]  # an int
    low = lower_bound(types.TIMESTAMP, value, policy=BERLIN)
    high = upper_bound(types.TIMESTAMP, value, policy=BERLIN)
    assert low is not None
    assert low == high
    assert low.is_tight
    assert read_value(types.TIMESTAMP, low.encoded, BERLIN) == wall


ZONES = [
    "Europe/Berlin",
    "America/St_Johns",
    "Australia/Lord_Howe",
    "America/Juneau",
    "Asia/Manila",
]


@given(
    st.sampled_from(ZONES),
    st.datetimes(dt.datetime(1840, 1, 1), dt.datetime(2040, 1, 1), timezones=st.just(dt.UTC)),  # noqa: DTZ001  # hypothesis wants naive limits
    st.timedeltas(dt.timedelta(), dt.timedelta(hours=40)),
)
def test_converted_bounds_enclose_later_and_earlier_instants(
    zone: str, instant: dt.datetime, later: dt.timedelta
) -> None:
    assert_converted_in_order(TimestampPolicy(ZoneInfo(zone)), instant, instant + later)


@pytest.mark.parametrize("zone", ZONES)
def test_converted_bounds_enclose_around_every_change(zone: str) -> None:
    policy = TimestampPolicy(ZoneInfo(zone))
    for year in (1844, 1867, 2024):
        for hour in range(0, 366 * 24, 5):
            first = dt.datetime(year, 1, 1, tzinfo=dt.UTC) + dt.timedelta(hours=hour)
            if (
                first.astimezone(policy.session_zone).utcoffset()
                != (first + dt.timedelta(hours=30)).astimezone(policy.session_zone).utcoffset()
            ):
                for minutes in range(0, 1_800, 47):
                    second = first + dt.timedelta(minutes=minutes)
                    assert_converted_in_order(policy, first, second)


def assert_converted_in_order(
    policy: TimestampPolicy, first: dt.datetime, second: dt.datetime
) -> None:
    low = lower_bound(types.TIMESTAMP, first, policy=policy)
    high = upper_bound(types.TIMESTAMP, second, policy=policy)
    assert low is not None
    assert high is not None
    compare = comparator(types.TIMESTAMP, policy)
    for instant in (first, second):
        assert compare(low.encoded, instant) <= 0 <= compare(high.encoded, instant)


FLOATING: dict[LogicalType, Any] = {types.FLOAT: np.float32, types.DOUBLE: np.float64}
NUMBERS = st.integers() | st.integers(-(2**70), 2**70) | st.floats(allow_nan=False)


@given(
    st.sampled_from(sorted(FLOATING, key=str)),
    NUMBERS | st.decimals(allow_nan=False, allow_infinity=False).map(str),
)
def test_bounds_enclose_numbers_that_are_rounded(logical: LogicalType, value: Any) -> None:
    low, high = lower_bound(logical, value), upper_bound(logical, value)
    assert low is not None
    assert high is not None
    exact = _exact(value)
    if isinstance(value, str) and low.is_tight:
        exact = _exact(float(FLOATING[logical](value)))  # its own text is the float itself
    below, above = (_exact(float(FLOATING[logical](b.encoded))) for b in (low, high))
    assert below <= exact <= above
    assert low.is_tight == high.is_tight == (below == above)


def _exact(value: Any) -> Any:
    return value if value in (float("inf"), float("-inf")) else Fraction(value)


@pytest.mark.parametrize(
    ("logical", "value", "low", "high"),
    [
        (types.DOUBLE, 2**53 + 1, "9.007199254740992E15", "9.007199254740994E15"),
        (types.FLOAT, 16_777_217, "1.6777216E7", "1.6777218E7"),
        (types.DOUBLE, "1e400", "1.7976931348623157E308", "Infinity"),
        (types.DOUBLE, -(10**400), "-Infinity", "-1.7976931348623157E308"),
        (types.DOUBLE, "1e-400", "0.0", "4.9E-324"),
        (types.FLOAT, 1e39, "3.4028235E38", "Infinity"),
        (types.FLOAT, 0.1, "0.099999994", "0.1"),
        (types.FLOAT, "0.10000000000000001", "0.099999994", "0.1"),
        (types.DOUBLE, "9007199254740993", "9.007199254740992E15", "9.007199254740994E15"),
    ],
)
def test_numbers_a_float_does_not_have(
    logical: LogicalType, value: object, low: str, high: str
) -> None:
    assert lower_bound(logical, value) == Bound(low, is_tight=False)
    assert upper_bound(logical, value) == Bound(high, is_tight=False)


@pytest.mark.parametrize("value", [float("inf"), "Infinity", 0.1, -0.0, 2**53])
def test_numbers_a_double_has_are_tight(value: object) -> None:
    low, high = lower_bound(types.DOUBLE, value), upper_bound(types.DOUBLE, value)
    assert low is not None
    assert low == high
    assert low.is_tight


@given(st.sampled_from(sorted(FLOATING, key=str)), st.floats(allow_nan=False, width=32))
def test_bounds_of_bounds_stay(logical: LogicalType, value: float) -> None:
    bound = lower_bound(logical, value)
    assert bound is not None
    assert lower_bound(logical, bound.encoded) == bound
    assert upper_bound(logical, bound.encoded) == bound
