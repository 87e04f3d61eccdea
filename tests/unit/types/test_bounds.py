"""A bound contains every value, and says so when it isn't one itself."""

import datetime as dt
from decimal import Decimal
from typing import Any

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
from floecat.types.ordering import comparator

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
