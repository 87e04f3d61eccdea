"""A file's statistics in the log, as the contract's."""

from collections.abc import Sequence
from typing import Any

from ai.floedb.floecat.catalog.stats_pb2 import FileColumnStats, ScalarStats
from ai.floedb.floecat.types.types_pb2 import LogicalType as LogicalTypeMessage
from floecat.connectors.delta.log.actions import Add, Json
from floecat.connectors.delta.schema import DeltaColumn
from floecat.connectors.delta.values import (
    Bounds,
    Unclear,
    partition_value,
    statistic_bounds,
    widened_floats,
)
from floecat.types.bounds import Bound
from floecat.types.messages import to_message
from floecat.types.policy import TimestampPolicy


class FileStatistics:
    """Reads the statistics of the same columns from file after file."""

    def __init__(
        self,
        columns: Sequence[tuple[int, DeltaColumn]],
        partitions: Sequence[DeltaColumn],
        policy: TimestampPolicy,
    ) -> None:
        partitioned = {column.source.path for column in partitions}
        self._policy = policy
        self._columns = [
            (column_id, column, to_message(column.source.logical_type), path in partitioned)
            for column_id, column in columns
            if (path := column.source.path)
        ]

    def of(self, add: Add) -> list[FileColumnStats]:
        """One entry per column, with what is known."""
        return [
            FileColumnStats(
                column_id=column_id,
                scalar=self._of_partition(add, column, kind)
                if partitioned
                else self._of_column(add, column, kind),
            )
            for column_id, column, kind, partitioned in self._columns
        ]

    def _of_column(self, add: Add, column: DeltaColumn, kind: LogicalTypeMessage) -> ScalarStats:
        stats = add.stats or {}
        rows = row_count(add)
        tight = stats.get("tightBounds") is not False
        scalar = ScalarStats(display_name=column.source.name, logical_type=kind, value_count=rows)
        if not column.has_statistics:
            scalar.ClearField("value_count")
            return scalar
        nulls = _at(stats.get("nullCount"), column.physical)
        # Without tight bounds the count is of some earlier time; only none and all still hold.
        if isinstance(nulls, int) and (tight or nulls in {0, rows}):
            scalar.null_count = nulls
        low = _at(stats.get("minValues"), column.physical)
        high = _at(stats.get("maxValues"), column.physical)
        if column.was_float:
            low, high = widened_floats(low, high)
            tight = False
        _put(scalar, self._bounds(column, low, high, tight=tight))
        return scalar

    def _bounds(self, column: DeltaColumn, low: Any, high: Any, *, tight: bool) -> Bounds:
        logical = column.source.logical_type
        return statistic_bounds(logical, low, high, tight=tight, policy=self._policy)

    def _of_partition(self, add: Add, column: DeltaColumn, kind: LogicalTypeMessage) -> ScalarStats:
        """Every row has the partition's value, so that is known exactly."""
        rows = row_count(add)
        scalar = ScalarStats(display_name=column.source.name, logical_type=kind, value_count=rows)
        value = partition_value(
            column.source.logical_type, add.partition_values.get(column.physical[0])
        )
        if isinstance(value, Unclear):
            return scalar
        if rows is not None:
            scalar.null_count = rows if value is None else 0
        if value is not None and column.source.logical_type.kind.is_orderable and value != "NaN":
            bound = Bound(value, is_tight=rows is None or rows > 0)
            _put(scalar, Bounds(bound, bound))
        return scalar


def row_count(add: Add) -> int | None:
    """The rows of a file, deleted ones included; None when the log doesn't say."""
    rows = (add.stats or {}).get("numRecords")
    return rows if isinstance(rows, int) else None


def _put(scalar: ScalarStats, bounds: Bounds) -> None:
    if bounds.low is not None:
        scalar.min, scalar.min_tight = bounds.low.encoded, bounds.low.is_tight
    if bounds.high is not None:
        scalar.max, scalar.max_tight = bounds.high.encoded, bounds.high.is_tight


def _at(tree: Json | None, path: tuple[str, ...]) -> Any:
    """The value at a path of nested objects."""
    found: Any = tree
    for name in path:
        if not isinstance(found, dict):
            return None
        found = found.get(name)
    return found
