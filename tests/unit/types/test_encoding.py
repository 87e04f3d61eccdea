"""Canonical strings: the rules one by one, and what holds for every value."""

import datetime as dt
import uuid
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.types import VALUES, is_nan, typed_values

from floecat.types import logical as types
from floecat.types.encoding import ValueEncoders
from floecat.types.errors import InvalidValueError
from floecat.types.kinds import IntervalRange, Kind
from floecat.types.logical import LogicalType
from floecat.types.values.intervals import read_interval
from floecat.types.values.plain import python_value, read_value

ENCODERS = ValueEncoders()
PARIS_WINTER = dt.timezone(dt.timedelta(hours=1))


def precise(kind: Kind, precision: int) -> LogicalType:
    return LogicalType(kind, temporal_precision=precision)


def moment(*parts: int, zone: dt.tzinfo | None = None) -> dt.datetime:
    return dt.datetime(*parts, tzinfo=zone)  # type: ignore[arg-type,misc]  # parts are dates'


ENCODED: list[tuple[LogicalType, object, str]] = [
    (types.BOOLEAN, True, "true"),
    (types.BOOLEAN, np.bool_(False), "false"),
    (types.BOOLEAN, "TRUE", "true"),
    (types.INT, -0, "0"),
    (types.INT, "+007", "7"),
    (types.INT, "-0", "0"),
    (types.INT, np.uint64(2**64 - 1), "18446744073709551615"),
    (types.INT, 2**127, "170141183460469231731687303715884105728"),
    (types.INT, pa.scalar(-5, pa.int8()), "-5"),
    (types.DECIMAL, Decimal("-0.00"), "0"),
    (types.DECIMAL, Decimal("1.50"), "1.5"),
    (types.DECIMAL, Decimal(100), "100"),
    (types.DECIMAL, Decimal("1E+3"), "1000"),
    (types.DECIMAL, Decimal("1E-9"), "0.000000001"),
    (types.DECIMAL, "-007.500", "-7.5"),
    (types.DECIMAL, ".5", "0.5"),
    (types.DECIMAL, 12, "12"),
    (types.DECIMAL, Decimal("9" * 76), "9" * 76),
    (types.DECIMAL, Decimal("0E+999999"), "0"),
    (types.DATE, dt.date(2024, 2, 29), "2024-02-29"),
    (types.DATE, 0, "1970-01-01"),
    (types.DATE, -1, "1969-12-31"),
    (types.DATE, np.int32(19_723), "2024-01-01"),
    (types.DATE, 19_723.0, "2024-01-01"),
    (types.DATE, "0001-01-01", "0001-01-01"),
    (types.DATE, "+10000-01-01", "+10000-01-01"),
    (types.DATE, "-0001-12-31", "-0001-12-31"),
    (types.DATE, -719_528, "0000-01-01"),
    (types.DATE, np.datetime64("2024-01", "M"), "2024-01-01"),
    (types.DATE, pa.scalar(-86_400_000, pa.date64()), "1969-12-31"),
    (types.TIME, dt.time(1, 2, 3), "01:02:03"),
    (types.TIME, "23:59", "23:59:00"),
    (types.TIME, dt.time(0, 0, 0, 120_000), "00:00:00.12"),
    (types.TIME, "00:00:00.123456789", "00:00:00.123456"),
    (types.TIME, np.timedelta64(1, "h"), "01:00:00"),
    (types.TIME, pa.scalar(1, pa.time64("ns")), "00:00:00"),
    (precise(Kind.TIME, 3), dt.time(1, 2, 3), "01:02:03.000"),
    (precise(Kind.TIME, 0), dt.time(1, 2, 3, 999_999), "01:02:03"),
    (types.TIMESTAMP, moment(2024, 1, 1), "2024-01-01T00:00:00"),
    (types.TIMESTAMP, "2024-01-01 00:00:00.100", "2024-01-01T00:00:00.1"),
    (types.TIMESTAMP, "2024-01-01T00:00", "2024-01-01T00:00:00"),
    (types.TIMESTAMP, np.datetime64(-1, "us"), "1969-12-31T23:59:59.999999"),
    (types.TIMESTAMP, np.datetime64(-1, "ns"), "1969-12-31T23:59:59.999999"),
    (types.TIMESTAMP, pa.scalar(-1, pa.timestamp("s")), "1969-12-31T23:59:59"),
    (types.TIMESTAMP, np.datetime64(2**63 - 1, "us"), "+294247-01-10T04:00:54.775807"),
    (precise(Kind.TIMESTAMP, 3), moment(2024, 1, 1), "2024-01-01T00:00:00.000"),
    (precise(Kind.TIMESTAMP, 6), moment(2024, 1, 1, 0, 0, 0, 1), "2024-01-01T00:00:00.000001"),
    (precise(Kind.TIMESTAMP, 0), moment(2024, 1, 1, 0, 0, 0, 1), "2024-01-01T00:00:00"),
    (types.TIMESTAMPTZ, moment(2024, 1, 1, zone=PARIS_WINTER), "2023-12-31T23:00:00Z"),
    (types.TIMESTAMPTZ, "2024-01-01T00:00:00+01:00", "2023-12-31T23:00:00Z"),
    (types.TIMESTAMPTZ, "2024-01-01T00:00:00-0130", "2024-01-01T01:30:00Z"),
    (types.TIMESTAMPTZ, "2024-01-01T00:00:00+01:00[Europe/Paris]", "2023-12-31T23:00:00Z"),
    (types.TIMESTAMPTZ, "2024-01-01 00:00:00.000 UTC", "2024-01-01T00:00:00Z"),
    (types.TIMESTAMPTZ, pa.scalar(0, pa.timestamp("ms", "Asia/Tokyo")), "1970-01-01T00:00:00Z"),
    (
        types.TIMESTAMPTZ,
        dt.datetime.max.replace(tzinfo=dt.timezone(dt.timedelta(hours=-1))),
        "+10000-01-01T00:59:59.999999Z",
    ),
    (precise(Kind.TIMESTAMPTZ, 2), "2024-01-01T00:00:00.129Z", "2024-01-01T00:00:00.12Z"),
    (types.STRING, "", ""),
    (types.STRING, "é\x00😀", "é\x00😀"),
    (types.STRING, "é".encode(), "é"),
    (types.BINARY, b"", ""),
    (types.BINARY, b"\xff\xfe", "//4="),
    (types.BINARY, b"x" * 100, "eHh4" * 33 + "eA=="),
    (types.BINARY, uuid.UUID(int=1), "AAAAAAAAAAAAAAAAAAAAAQ=="),
    (types.UUID, uuid.UUID(int=2**128 - 1), "ffffffff-ffff-ffff-ffff-ffffffffffff"),
    (types.UUID, "F" * 32, "ffffffff-ffff-ffff-ffff-ffffffffffff"),
    (types.UUID, bytearray(16), "00000000-0000-0000-0000-000000000000"),
    (types.UUID, memoryview(bytes(16)), "00000000-0000-0000-0000-000000000000"),
    (types.DECIMAL, "0." + "1" * 1_000, "0." + "1" * 1_000),
    (types.DECIMAL, Decimal("0E-2000"), "0"),
    (types.TIMESTAMP, pa.scalar(2**63 - 1, pa.timestamp("s")), "+292277026596-12-04T15:30:07"),
    (types.UUID, bytes(16), "00000000-0000-0000-0000-000000000000"),
    (types.UUID, pa.scalar(bytes(16), pa.uuid()), "00000000-0000-0000-0000-000000000000"),
    (types.INTERVAL, "P1Y2M", "P1Y2M"),
    (types.INTERVAL, "p14m", "P1Y2M"),
    (types.INTERVAL, "-P1W", "P-7D"),
    (types.INTERVAL, "PT36H0.50S", "PT36H0.5S"),
    (types.INTERVAL, "PT-0.5S", "PT-0.5S"),
    (types.INTERVAL, "P0D", "PT0S"),
    (types.INTERVAL, dt.timedelta(days=1, seconds=7_384, microseconds=5), "P1DT2H3M4.000005S"),
    (types.INTERVAL, np.timedelta64(3, "Y"), "P3Y"),
    (types.INTERVAL, pa.scalar(-1, pa.duration("s")), "PT-1S"),
    (types.INTERVAL, dt.timedelta(seconds=-1), "PT-1S"),
    (types.INTERVAL, dt.timedelta(days=-1, seconds=-1), "P-1DT-1S"),
    (types.INTERVAL, np.timedelta64(-1, "ms"), "PT-0.001S"),
    (types.INTERVAL, "P-1DT23H59M59S", "P-1DT23H59M59S"),  # a day isn't always 24 hours
    (LogicalType(Kind.INTERVAL, interval_range=IntervalRange.YEAR_TO_MONTH), "P1Y", "P1Y"),
    (types.STRING, pa.array(["a"]).dictionary_encode()[0], "a"),
]


@pytest.mark.parametrize(("logical", "value", "text"), ENCODED)
def test_the_canonical_string(logical: LogicalType, value: object, text: str) -> None:
    assert ENCODERS.encode_to_string(logical, value) == text


REFUSED: list[tuple[LogicalType, object]] = [
    *((logical, None) for logical in VALUES),
    *((logical, pa.scalar(None, pa.int64())) for logical in VALUES),
    *((logical, object()) for logical in VALUES),
    (types.BOOLEAN, 1),
    (types.BOOLEAN, "yes"),
    (types.INT, True),
    (types.INT, 1.0),
    (types.INT, "1.0"),
    (types.INT, "٣"),
    (types.INT, "9" * 5_000),
    (types.DECIMAL, 0.5),
    (types.DECIMAL, Decimal("NaN")),
    (types.DECIMAL, Decimal("Infinity")),
    (types.DECIMAL, Decimal("1E+1000000")),
    (types.DECIMAL, "1e-1000000"),
    (types.DATE, 0.5),
    (types.DATE, Decimal("0.5")),
    (types.DATE, float("nan")),
    (types.DATE, Decimal("sNaN")),
    (types.DATE, Decimal("1E+99")),
    (types.DATE, True),
    (types.DATE, moment(2024, 1, 1)),
    (types.DATE, "2023-02-29"),
    (types.DATE, "2024-1-1"),
    (types.DATE, "20240101"),
    (types.DATE, np.datetime64("2024-01-01T01")),
    (types.DATE, np.datetime64("NaT")),
    (types.TIME, 0),
    (types.TIME, 1.5),
    (types.TIME, np.int64(3_600)),
    (types.TIME, "3600"),
    (types.TIME, "24:00:00"),
    (types.TIME, "23:59:60"),
    (types.TIME, dt.time(1, tzinfo=dt.UTC)),
    (types.TIME, np.timedelta64(24, "h")),
    (types.TIME, pa.scalar(86_400, pa.int32()).cast(pa.time32("s"))),
    (types.TIMESTAMP, 1_700_000_000),
    (types.TIMESTAMP, 1.7e9),
    (types.TIMESTAMP, np.int64(1_700_000_000)),
    (types.TIMESTAMP, Decimal(1_700_000_000)),
    (types.TIMESTAMP, "1700000000"),
    (types.TIMESTAMP, "2024-01-01"),
    (types.TIMESTAMP, dt.date(2024, 1, 1)),
    (types.TIMESTAMP, "2024-01-01T24:00:00"),
    (types.TIMESTAMP, "2024-01-01T00:00:00Z"),
    (types.TIMESTAMP, moment(2024, 1, 1, zone=dt.UTC)),
    (types.TIMESTAMP, pa.scalar(0, pa.timestamp("us", "UTC"))),
    (types.TIMESTAMP, "+999999999999-01-01T00:00:00"),
    (types.TIMESTAMP, np.datetime64("NaT")),
    (types.TIMESTAMP, np.datetime64(1, "ps")),
    (types.TIMESTAMPTZ, 1_700_000_000),
    (types.TIMESTAMPTZ, "2024-01-01T00:00:00"),
    (types.TIMESTAMPTZ, moment(2024, 1, 1)),
    (types.TIMESTAMPTZ, pa.scalar(0, pa.timestamp("us"))),
    (types.TIMESTAMPTZ, "2024-01-01T00:00:00+25:00"),
    (types.STRING, "\ud800"),
    (types.STRING, b"\xff"),
    (types.STRING, 5),
    (types.BINARY, "not base64!"),
    (types.BINARY, "AAA"),
    (types.BINARY, 5),
    (types.UUID, "123"),
    (types.UUID, b"123"),
    (types.UUID, "{" + "f" * 32 + "}"),
    (types.INTERVAL, "P"),
    (types.INTERVAL, "PT"),
    (types.INTERVAL, "1 day"),
    (types.INTERVAL, "P99999999999Y"),
    (types.INTERVAL, 5),
    (types.INTERVAL, pa.MonthDayNano([2**31, 0, 0])),
    (types.INTERVAL, pa.MonthDayNano([0, 0, 2**63])),
    (types.DATE, np.datetime64(2**62, "D")),
    (types.DATE, np.datetime64(2**62, "Y")),
    (types.DATE, np.datetime64(2**62, "M")),
    (types.DATE, "+999999999999-01-01"),
    (types.TIMESTAMP, np.datetime64(2**62, "D")),
    (types.TIMESTAMPTZ, np.datetime64(2**62, "h")),
    (types.DOUBLE, "1e400"),
    (types.DOUBLE, "-1e400"),
    (types.DOUBLE, 10**400),
    (types.FLOAT, "1e39"),
    (types.FLOAT, 10**400),
    (types.FLOAT, 1e39),
    (types.DOUBLE, "1e99999999999"),
    (types.DECIMAL, "0." + "1" * 1_001),
    (types.DECIMAL, "1" * 1_001),
    (types.UUID, bytearray(15)),
    *((LogicalType(kind), "{}") for kind in Kind if not kind.is_orderable),
]


@pytest.mark.parametrize(("logical", "value"), REFUSED)
def test_what_is_not_a_value_is_refused(logical: LogicalType, value: object) -> None:
    with pytest.raises(InvalidValueError):
        ENCODERS.encode_to_string(logical, value)


@pytest.mark.parametrize("logical", VALUES)
def test_an_integer_too_long_to_print_is_refused_too(logical: LogicalType) -> None:
    with pytest.raises(InvalidValueError):
        ENCODERS.encode_to_string(logical, 10**5_000)


def test_errors_name_the_column_when_it_is_known() -> None:
    with pytest.raises(InvalidValueError, match="column 'sold_at'") as caught:
        ENCODERS.encode_to_string(types.TIMESTAMP, 5, column="sold_at")
    assert caught.value.metadata == {"column": "sold_at"}
    with pytest.raises(InvalidValueError, match="column 'sold_at'"):
        ENCODERS.decode_from_string(types.DATE, "x", column="sold_at")
    with pytest.raises(InvalidValueError, match="column 'sold_at'"):
        ENCODERS.encode_array_to_strings(types.TIMESTAMP, pa.array([5]), column="sold_at")


def test_nanoseconds_of_a_datetime_subclass_count() -> None:
    class Timestamp(dt.datetime):
        """What pandas' Timestamp looks like from here."""

        nanosecond = 7

    value = Timestamp(1970, 1, 1)  # a wall clock on purpose
    assert read_value(types.TIMESTAMP, value, ENCODERS.policy) == 7


def expected(logical: LogicalType, value: Any) -> Any:
    """The value as decoding gives it: days, instants and zeros in one form each."""
    plain = read_value(logical, value, ENCODERS.policy)
    return python_value(logical, plain)


@given(st.integers(-(2**63) + 1, 2**63 - 1))
def test_far_years_are_numpys(micros: int) -> None:
    """numpy counts the same calendar, and reads it without a plus sign."""
    value = np.datetime64(micros, "us")
    text = ENCODERS.encode_to_string(precise(Kind.TIMESTAMP, 6), value)
    assert np.datetime64(text.lstrip("+"), "us") == value
    assert text.startswith("+") == (value >= np.datetime64("10000-01-01", "us"))


@given(typed_values(VALUES))
def test_values_round_trip(typed: tuple[LogicalType, Any]) -> None:
    logical, value = typed
    decoded = ENCODERS.decode_from_string(logical, ENCODERS.encode_to_string(logical, value))
    assert type(decoded) is type(expected(logical, value))
    if not is_nan(value):
        assert decoded == expected(logical, value)


@given(typed_values(VALUES))
def test_encoding_is_idempotent(typed: tuple[LogicalType, Any]) -> None:
    logical, value = typed
    once = ENCODERS.encode_to_string(logical, value)
    assert ENCODERS.encode_to_string(logical, once) == once


@given(
    st.sampled_from([types.DATE, types.TIMESTAMP, types.TIMESTAMPTZ]),
    st.integers(-(2**63) + 1, 2**63 - 1),
    st.sampled_from(["Y", "M", "W", "D", "h", "m", "s", "ms", "us", "ns"]),
)
def test_what_numpy_counts_is_refused_or_can_be_read_back(
    logical: LogicalType, count: int, unit: Any
) -> None:
    try:
        once = ENCODERS.encode_to_string(logical, np.datetime64(count, unit))
    except InvalidValueError:
        return
    assert ENCODERS.encode_to_string(logical, once) == once
    decoded = ENCODERS.decode_from_string(logical, once)
    assert ENCODERS.encode_to_string(logical, decoded) == once


@given(st.timedeltas(max_value=-dt.timedelta.min))
def test_the_parts_of_a_duration_have_its_sign(duration: dt.timedelta) -> None:
    try:
        forth, back = read_interval(duration), read_interval(-duration)
    except InvalidValueError:
        return
    assert tuple(forth) == tuple(-part for part in back)


@given(typed_values(VALUES))
def test_an_equal_value_has_the_same_string(typed: tuple[LogicalType, Any]) -> None:
    logical, value = typed
    decoded = ENCODERS.decode_from_string(logical, ENCODERS.encode_to_string(logical, value))
    again = ENCODERS.encode_to_string(logical, decoded)
    assert again == ENCODERS.encode_to_string(logical, value)
