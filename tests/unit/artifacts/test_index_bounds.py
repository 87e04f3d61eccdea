"""Typed counts and bounds of an index: read as what they were learnt as, widened, or unknown."""

from datetime import date, datetime
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest

from floecat.artifacts.columns import SCHEMA, ColumnRow, to_batch
from floecat.artifacts.index.bounds import (
    LEARNT,
    partition_values,
    typed_bounds,
    widened_bounds,
    widened_values,
)
from floecat.artifacts.index.gathering import GatheredBounds
from floecat.types import logical as types
from floecat.types.kinds import Kind
from floecat.types.logical import LogicalType, decimal_type
from floecat.types.messages import to_message


def learnt(*ends: tuple[str, str] | None) -> pa.RecordBatch:
    rows = [
        None
        if end is None
        else ColumnRow(
            value_count=9, null_count=2, minimum=end[0], maximum=end[1], minimum_tight=True
        )
        for end in ends
    ]
    return to_batch(1, rows)


def typed(before: LogicalType, now: LogicalType, *ends: tuple[str, str] | None) -> pa.StructArray:
    table = pa.Table.from_batches([learnt(*ends)], SCHEMA).select(LEARNT)
    return typed_bounds(table, before, now)


def both(bounds: pa.StructArray) -> list[tuple[Any, Any] | None]:
    return [None if row is None else (row["minimum"], row["maximum"]) for row in bounds.to_pylist()]


def test_counts_and_bounds_are_of_the_columns_type() -> None:
    bounds = typed(types.DATE, types.DATE, ("2026-01-01", "2026-02-01"), None)
    assert bounds.to_pylist() == [
        {
            "value_count": 9,
            "null_count": 2,
            "nan_count": None,
            "minimum": date(2026, 1, 1),
            "maximum": date(2026, 2, 1),
            "minimum_tight": True,
            "maximum_tight": False,
        },
        None,
    ]


WIDENED = [
    (types.INT, types.DOUBLE, ("-3", "9"), (-3.0, 9.0)),
    (types.INT, decimal_type(10, 2), ("-3", "9"), (Decimal("-3.00"), Decimal("9.00"))),
    (types.INT, decimal_type(38, 0), ("1", "9223372036854775807"), (1, 2**63 - 1)),
    (decimal_type(9, 2), decimal_type(12, 4), ("1.5", "2"), (Decimal("1.5"), Decimal(2))),
    (
        types.DATE,
        types.TIMESTAMP,
        ("2026-01-01", "2026-01-02"),
        (datetime(2026, 1, 1), datetime(2026, 1, 2)),  # noqa: DTZ001 - a wall clock
    ),
    # Read as what it was: 0.1 as a FLOAT is more than 0.1 as a DOUBLE, and no row may be missed.
    (types.FLOAT, types.DOUBLE, ("0.1", "0.1"), (0.10000000149011612,) * 2),
]


@pytest.mark.parametrize(("before", "now", "ends", "expected"), WIDENED)
def test_a_column_that_became_wider_keeps_its_bounds(
    before: LogicalType, now: LogicalType, ends: tuple[str, str], expected: tuple[Any, Any]
) -> None:
    at_once = typed(before, now, ends, None)
    assert both(at_once) == [expected, None]
    later = widened_bounds(typed(before, before, ends, None), before, now)
    assert later.equals(at_once)


@pytest.mark.parametrize(
    ("before", "now", "ends"),
    [
        (types.INT, types.DOUBLE, ("0", str(2**53 + 1))),
        (types.INT, decimal_type(3, 0), ("0", "1000")),
        (types.DOUBLE, decimal_type(10, 2), ("0.001", "0.009")),
        (types.STRING, types.INT, ("1", "10")),
        (types.TIMESTAMP, types.DATE, ("2026-01-01T00:00:00", "2026-01-01T10:00:00")),
        (types.INT, LogicalType(Kind.VARIANT), ("1", "2")),
    ],
)
def test_bounds_that_are_none_in_another_type_are_unknown(
    before: LogicalType, now: LogicalType, ends: tuple[str, str]
) -> None:
    bounds = typed(before, now, ends)
    [row] = bounds.to_pylist()
    assert row["maximum"] is None
    assert row["value_count"] == 9


def test_rows_of_several_types_are_put_where_they_belong() -> None:
    gathered = GatheredBounds(5)
    assert not gathered
    gathered.add(to_message(types.INT), learnt(("1", "2"), ("3", "4")), [(1, 0), (0, 4)])
    gathered.add(to_message(types.DOUBLE), learnt(("0.5", "0.75")), [(0, 2)])
    gathered.add(to_message(types.INT), learnt(None, ("5", "6")), [(0, 1), (1, 3)])
    assert both(gathered.typed(types.DOUBLE)) == [
        (3.0, 4.0),
        None,
        (0.5, 0.75),
        (5.0, 6.0),
        (1.0, 2.0),
    ]


def test_partition_values_tell_null_from_unknown() -> None:
    values = partition_values(
        types.INT, [(True, "7"), (True, None), (False, None), (True, str(2**70))]
    )
    assert values.to_pylist() == [{"value": 7}, {"value": None}, None, None]
    wider = widened_values(values, types.INT, decimal_type(20, 0))
    assert wider.to_pylist() == [{"value": Decimal(7)}, {"value": None}, None, None]
    assert widened_values(values, types.INT, types.DATE).to_pylist() == [
        None,
        {"value": None},
        None,
        None,
    ]
