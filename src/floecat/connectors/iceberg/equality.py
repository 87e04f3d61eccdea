"""Equality deletes that can't match a data file, by what both manifests say of the columns.

As in Iceberg's own planning: a delete whose values lie beside those of the file takes nothing away
from it, and needn't be read for it.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from floecat.connectors.iceberg.schema import types_by_id
from floecat.types.errors import InvalidValueError
from floecat.types.singlevalue.primitives import Primitive, find_primitive
from floecat.types.singlevalue.scalar import decode_single_value

_METRICS: Final = (
    "value_counts",
    "null_value_counts",
    "nan_value_counts",
    "lower_bounds",
    "upper_bounds",
)


@dataclass(frozen=True, slots=True)
class ColumnMetrics:
    """What a manifest says of one column of one file."""

    values: int | None
    nulls: int | None
    nans: int | None
    lower: Any
    upper: Any

    @property
    def may_hold_null(self) -> bool:
        return self.nulls is None or self.nulls > 0

    @property
    def may_hold_nan(self) -> bool:
        """NaN is a value that bounds leave out."""
        bounds_floats = isinstance(self.lower, float) or isinstance(self.upper, float)
        return bounds_floats and self.nans != 0

    @property
    def holds_only_null(self) -> bool:
        return self.nulls is not None and self.nulls == self.values


class EqualityMatcher:
    """Compares deletes with data files."""

    def __init__(self, schemas: Mapping[int, Mapping[str, Any]]) -> None:
        types = types_by_id(schemas)
        primitives = {i: find_primitive(kind) for i, kind in types.items() if isinstance(kind, str)}
        self._primitives = {i: found for i, found in primitives.items() if found is not None}

    def metrics(self, record: Mapping[str, Any], field_ids: set[int]) -> dict[int, ColumnMetrics]:
        """Of the columns that deletes compare."""
        maps = [record.get(name) or {} for name in _METRICS]
        return {
            field_id: ColumnMetrics(
                maps[0].get(field_id),
                maps[1].get(field_id),
                maps[2].get(field_id),
                _decoded(primitive, maps[3].get(field_id)),
                _decoded(primitive, maps[4].get(field_id)),
            )
            for field_id in field_ids
            if (primitive := self._primitives.get(field_id)) is not None
        }

    def may_match(
        self, deletes: Mapping[int, ColumnMetrics], data: Mapping[int, ColumnMetrics]
    ) -> bool:
        """Whether some row may be equal in every column that the deletes compare."""
        return all(
            _may_match(delete, data[field_id])
            for field_id, delete in deletes.items()
            if field_id in data
        )


def _may_match(delete: ColumnMetrics, data: ColumnMetrics) -> bool:
    if (delete.may_hold_null and data.may_hold_null) or (delete.may_hold_nan and data.may_hold_nan):
        return True
    if delete.holds_only_null or data.holds_only_null:
        return False  # the other side holds no null
    if None in (delete.lower, delete.upper, data.lower, data.upper):
        return True
    return bool(delete.lower <= data.upper and data.lower <= delete.upper)


def _decoded(primitive: Primitive, data: bytes | None) -> Any:
    """The bound's value; None when it is missing, unreadable, or doesn't compare."""
    if data is None:
        return None
    try:
        value = decode_single_value(primitive, data)
    except InvalidValueError:
        return None
    return None if value != value else value  # noqa: PLR0124 - NaN
