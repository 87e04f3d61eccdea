"""Per-file column statistics from a manifest entry, decoded and canonical."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from google.protobuf.internal.containers import RepeatedCompositeFieldContainer

from ai.floedb.floecat.catalog.stats_pb2 import FileColumnStats, ScalarStats
from floecat.connectors.iceberg.schema import Leaf
from floecat.connectors.spi.columns import ColumnScope, SourceColumn
from floecat.types.bounds import Bound, lower_bound, upper_bound
from floecat.types.errors import InvalidValueError
from floecat.types.messages import to_message
from floecat.types.policy import TimestampPolicy
from floecat.types.singlevalue.primitives import PrimitiveName
from floecat.types.singlevalue.scalar import decode_single_value

_CUT: Final = frozenset({PrimitiveName.STRING, PrimitiveName.BINARY, PrimitiveName.FIXED})
"""Types whose bounds may be cut, to a length that no manifest tells: the table's settings are those
of today, and a file's were those of its writer. So these bounds are never said to be tight."""

_UNKNOWN: Final = (None, None, None)
_INTEGERS: Final = frozenset({PrimitiveName.INT, PrimitiveName.LONG})
_WIDTHS: Final = frozenset({4, 8})

Bounds = Callable[..., Bound | None]
Columns = RepeatedCompositeFieldContainer[FileColumnStats]


@dataclass(frozen=True, slots=True)
class _Wanted:
    column_id: int
    leaf: Leaf
    template: ScalarStats


class MetricsReader:
    """Turns a file's metrics into statistics of the wanted columns."""

    def __init__(
        self,
        leaves: Sequence[Leaf],
        scope: ColumnScope | None,
        policy: TimestampPolicy,
    ) -> None:
        by_path = {leaf.column.path: leaf for leaf in leaves}
        selected = scope.selected(leaf.column for leaf in leaves) if scope else []
        self._wanted = [
            _Wanted(chosen.column_id, by_path[chosen.column.path], _template(chosen.column))
            for chosen in selected
        ]
        self._policy = policy

    def __bool__(self) -> bool:
        return bool(self._wanted)

    def put_into(self, columns: "Columns", file: Mapping[str, Any]) -> None:
        """What the manifest knows of a file's columns; those it knows nothing of are absent."""
        values, nulls = file.get("value_counts") or {}, file.get("null_value_counts") or {}
        nans = file.get("nan_value_counts") or {}
        lower, upper = file.get("lower_bounds") or {}, file.get("upper_bounds") or {}
        for wanted in self._wanted:
            field_id = wanted.leaf.field_id
            counts = values.get(field_id), nulls.get(field_id), nans.get(field_id)
            low, high = lower.get(field_id), upper.get(field_id)
            if counts == _UNKNOWN and low is None and high is None:
                continue
            column = columns.add(column_id=wanted.column_id, scalar=wanted.template)
            _put_counts(
                column.scalar, counts, None if wanted.leaf.repeated else file["record_count"]
            )
            self._put_bounds(column.scalar, wanted.leaf, low, high)

    def _put_bounds(
        self, stats: ScalarStats, leaf: Leaf, lower: bytes | None, upper: bytes | None
    ) -> None:
        low = self._bound(lower_bound, leaf, lower)
        if low is not None:
            stats.min, stats.min_tight = low.encoded, low.is_tight
        high = self._bound(upper_bound, leaf, upper)
        if high is not None:
            stats.max, stats.max_tight = high.encoded, high.is_tight

    def _bound(self, bound: Bounds, leaf: Leaf, data: bytes | None) -> Bound | None:
        """A bound that can't be decoded is no bound: the file is read rather than skipped."""
        if data is None or leaf.primitive is None:
            return None
        if leaf.primitive.name in _INTEGERS and len(data) in _WIDTHS:
            return Bound(str(int.from_bytes(data, "little", signed=True)), is_tight=True)
        try:
            value = decode_single_value(leaf.primitive, data)
            tight = leaf.primitive.name not in _CUT
            return bound(leaf.column.logical_type, value, is_tight=tight, policy=self._policy)
        except InvalidValueError:
            return None


def _template(column: SourceColumn) -> ScalarStats:
    return ScalarStats(display_name=column.name, logical_type=to_message(column.logical_type))


def _put_counts(
    stats: ScalarStats, counts: tuple[int | None, int | None, int | None], rows: int | None
) -> None:
    """A row has one value of a column that isn't inside a list; what is missing is NULL.

    Writers that count while they write don't come to what is inside a struct that is NULL.
    """
    values, nulls, nans = counts
    if rows is not None and values is not None and values < rows:
        nulls = None if nulls is None else nulls + rows - values
        values = rows
    if values is not None and values >= 0:
        stats.value_count = values
    if nulls is not None and nulls >= 0:
        stats.null_count = nulls
    if nans is not None and nans >= 0:
        stats.nan_count = nans
