"""Instants for a column without a zone: refused, or read off the session's clock."""

import datetime as dt
from zoneinfo import ZoneInfo

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from floecat.types import logical as types
from floecat.types.encoding import ValueEncoders
from floecat.types.errors import InvalidValueError
from floecat.types.policy import TimestampPolicy

PARIS = ValueEncoders(TimestampPolicy(ZoneInfo("Europe/Paris")))


def test_instants_are_refused_by_default() -> None:
    with pytest.raises(InvalidValueError, match=r"floecat\.timestamp_no_tz\.policy"):
        ValueEncoders().encode_to_string(types.TIMESTAMP, "2024-07-01T00:00:00Z")


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("2024-07-01T00:00:00Z", "2024-07-01T02:00:00"),
        ("2024-01-01T00:00:00.5Z", "2024-01-01T01:00:00.5"),
        (dt.datetime(2024, 1, 1, tzinfo=dt.UTC), "2024-01-01T01:00:00"),
        (pa.scalar(0, pa.timestamp("s", "Asia/Tokyo")), "1970-01-01T01:00:00"),
        ("+12024-07-01T00:00:00Z", "+12024-07-01T02:00:00"),
        ("-0044-03-15T00:00:00Z", "-0044-03-15T00:09:21"),  # mean time, before zones
        ("9999-12-31T23:59:59Z", "+10000-01-01T00:59:59"),
    ],
)
def test_instants_are_read_off_the_sessions_clock(value: object, text: str) -> None:
    assert PARIS.encode_to_string(types.TIMESTAMP, value) == text


@given(st.datetimes(timezones=st.just(dt.UTC)).filter(lambda at: 1900 < at.year < 9000))
def test_the_sessions_clock_is_pythons(instant: dt.datetime) -> None:
    wall = instant.astimezone(ZoneInfo("Europe/Paris")).replace(tzinfo=None)
    assert PARIS.decode_from_string(types.TIMESTAMP, instant.isoformat()) == wall


@pytest.mark.parametrize("value", ["2024-07-01T00:00:00", np.datetime64("2024-07-01T00:00:00")])
def test_what_has_no_zone_is_not_shifted(value: object) -> None:
    assert PARIS.encode_to_string(types.TIMESTAMP, value) == "2024-07-01T00:00:00"


def test_arrays_of_instants_are_converted_too() -> None:
    array = pa.array([0, None, 1_719_792_000], pa.timestamp("s", "UTC"))
    encoded = PARIS.encode_array_to_strings(types.TIMESTAMP, array).to_pylist()
    assert encoded == ["1970-01-01T01:00:00", None, "2024-07-01T02:00:00"]
