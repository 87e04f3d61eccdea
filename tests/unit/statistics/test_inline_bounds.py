"""Bounds that come as records are written as ours are, or aren't bounds."""

import pytest

from ai.floedb.floecat.catalog.stats_pb2 import ScalarStats
from floecat.statistics.inline import to_row
from floecat.types import logical as types
from floecat.types.logical import LogicalType, decimal_type
from floecat.types.messages import to_message


@pytest.mark.parametrize(
    ("logical", "told", "kept"),
    [
        (types.INT, ("-5", "7"), ("-5", "7")),
        (decimal_type(9, 2), ("1.50", "2"), ("1.5", "2")),
        (types.STRING, ("", "ß"), ("", "ß")),
        # No FLOAT is there: the bounds are the next ones outwards.
        (types.FLOAT, ("16777217", "16777217"), ("1.6777216E7", "1.6777218E7")),
        (types.DATE, ("not a date", "2026-01-01"), (None, "2026-01-01")),
        (types.INT, ("0x10", "1.5"), (None, None)),
    ],
)
def test_bounds_are_canonical(
    logical: LogicalType, told: tuple[str, str], kept: tuple[str | None, str | None]
) -> None:
    stats = ScalarStats(logical_type=to_message(logical), min_tight=True, max_tight=True)
    stats.min, stats.max = told
    row = to_row(stats)
    assert (row.minimum, row.maximum) == kept
    exact = logical is not types.FLOAT
    assert row.minimum_tight == (exact and kept[0] is not None)
    assert row.maximum_tight == (exact and kept[1] is not None)
