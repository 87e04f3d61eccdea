"""Hypothesis strategies for logical types and for values of every kind, edges included."""

import math
from datetime import UTC, timedelta, timezone
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
from hypothesis import strategies as st

from floecat.types import logical as types
from floecat.types.kinds import IntervalRange, Kind
from floecat.types.logical import LogicalType, StructField

Strategy = st.SearchStrategy[Any]

FLOATS = st.floats(width=32) | st.sampled_from([-0.0, 1e7, 9999999.0, float("nan")])
DOUBLES = st.floats() | st.sampled_from([-0.0, 5e-324, 1e7, 9999999.0, 1e-3, float("nan")])
DECIMALS = st.builds(
    lambda unscaled, exponent: Decimal(unscaled).scaleb(exponent),
    st.integers(-(10**27), 10**27),
    st.integers(-30, 30),
)
OFFSETS = st.integers(-14 * 60, 14 * 60).map(lambda m: timezone(timedelta(minutes=m)))
FAR_MICROS = st.integers(-(2**63) + 1, 2**63 - 1).map(lambda n: np.datetime64(n, "us"))
INTERVALS = st.builds(
    lambda months, days, nanos: pa.MonthDayNano([months, days, nanos]),
    st.integers(-(2**31) + 1, 2**31 - 1),
    st.integers(-(2**31) + 1, 2**31 - 1),
    st.integers(-(2**63) + 1, 2**63 - 1),
)

VALUES: dict[LogicalType, Strategy] = {
    types.BOOLEAN: st.booleans(),
    types.INT: st.integers(-(2**63), 2**64 - 1) | st.integers(),
    types.FLOAT: FLOATS,
    types.DOUBLE: DOUBLES,
    types.DATE: st.dates() | st.integers(-(2**31), 2**31 - 1).map(lambda n: np.datetime64(n, "D")),
    types.TIME: st.times(),
    types.TIMESTAMP: st.datetimes() | FAR_MICROS,
    types.TIMESTAMPTZ: st.datetimes(timezones=OFFSETS | st.just(UTC)) | FAR_MICROS,
    types.STRING: st.text(),
    types.BINARY: st.binary(),
    types.UUID: st.uuids(),
    types.DECIMAL: DECIMALS,
    types.INTERVAL: INTERVALS,
}
"""For every kind that has canonical strings: values that survive a round trip."""

ORDERED = {logical: values for logical, values in VALUES.items() if logical.kind.is_orderable}


def is_nan(value: object) -> bool:
    """Whether a value isn't even equal to itself."""
    return isinstance(value, float) and math.isnan(value)


def typed_values(values: dict[LogicalType, Strategy]) -> st.SearchStrategy[tuple[LogicalType, Any]]:
    """A type and a value of it."""
    return st.one_of([st.tuples(st.just(logical), s) for logical, s in values.items()])


def typed_pairs() -> st.SearchStrategy[tuple[LogicalType, Any, Any]]:
    """An orderable type and two values of it."""
    return st.one_of([st.tuples(st.just(logical), s, s) for logical, s in ORDERED.items()])


def _decimal_types() -> st.SearchStrategy[LogicalType]:
    return st.integers(1, 76).flatmap(
        lambda precision: st.integers(0, precision).map(
            lambda scale: LogicalType(Kind.DECIMAL, precision=precision, scale=scale)
        )
    )


def _interval_types() -> st.SearchStrategy[LogicalType]:
    fraction = st.none() | st.integers(0, 6)
    leading = st.none() | st.integers(0, 9)
    return st.one_of(
        st.builds(LogicalType, st.just(Kind.INTERVAL), interval_fractional_precision=fraction),
        st.builds(
            LogicalType,
            st.just(Kind.INTERVAL),
            interval_range=st.just(IntervalRange.YEAR_TO_MONTH),
            interval_leading_precision=leading,
        ),
        st.builds(
            LogicalType,
            st.just(Kind.INTERVAL),
            interval_range=st.just(IntervalRange.DAY_TO_SECOND),
            interval_leading_precision=leading,
            interval_fractional_precision=fraction,
        ),
    )


def _containers(inner: st.SearchStrategy[LogicalType]) -> st.SearchStrategy[LogicalType]:
    fields = st.lists(
        st.builds(StructField, st.text(min_size=1, max_size=8), inner, st.booleans()),
        min_size=1,
        max_size=4,
        unique_by=lambda field: field.name,
    )
    return st.one_of(
        inner.map(lambda element: LogicalType(Kind.ARRAY, element=element)),
        st.builds(LogicalType, st.just(Kind.MAP), key=inner, value=inner),
        fields.map(lambda some: LogicalType(Kind.STRUCT, fields=tuple(some))),
    )


def logical_types() -> st.SearchStrategy[LogicalType]:
    """Every valid type, nested ones too (without field ids, which type strings don't have)."""
    temporal = st.sampled_from([Kind.TIME, Kind.TIMESTAMP, Kind.TIMESTAMPTZ])
    leaves = st.one_of(
        st.sampled_from(Kind).map(LogicalType),
        st.builds(LogicalType, temporal, temporal_precision=st.none() | st.integers(0, 6)),
        _decimal_types(),
        _interval_types(),
    )
    return st.recursive(leaves, _containers, max_leaves=8)
