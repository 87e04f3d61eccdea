"""Partition values: as manifests store them, and as canonical strings."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from ai.floedb.floecat.catalog.stats_pb2 import PartitionValue
from floecat.connectors.iceberg.metadata import PartitionSpec, TableMetadata
from floecat.connectors.iceberg.schema import logical_of, result_type, types_by_id
from floecat.types.messages import to_message
from floecat.types.singlevalue.primitives import Primitive, PrimitiveName
from floecat.types.values.decimals import scaled
from floecat.types.values.plain import format_value
from floecat.types.values.scalars import read_uuid

PartitionKey = tuple[Any, ...]
"""The stored values in the spec's order: equal keys of one spec are the same partition.

Floats are there as text, since Iceberg compares them otherwise than Python: NaN is NaN, and 0.0
isn't -0.0.
"""

_MICROS: Final = frozenset({PrimitiveName.TIME, PrimitiveName.TIMESTAMP, PrimitiveName.TIMESTAMPTZ})
_MAX_CACHED: Final = 100_000


class PartitionReader:
    """Reads the partitions of one spec's files."""

    def __init__(self, spec: PartitionSpec, types: Mapping[int, object]) -> None:
        self._fields = [
            (field, result_type(field.transform, types.get(field.source_id)))
            for field in spec.fields
        ]
        self._empty = [
            PartitionValue(
                partition_field_id=field.field_id,
                name=field.name,
                type=to_message(logical_of(primitive)),
            )
            for field, primitive in self._fields
        ]
        self._cache: dict[PartitionKey, Sequence[PartitionValue]] = {}

    def key(self, partition: Mapping[str, Any] | None, names: Mapping[int, str]) -> PartitionKey:
        """A file's partition, from its manifest's record."""
        if not partition:
            return (None,) * len(self._fields)
        stored = (partition.get(names.get(field.field_id, "")) for field, _ in self._fields)
        return tuple(repr(value) if isinstance(value, float) else value for value in stored)

    def values(self, key: PartitionKey) -> Sequence[PartitionValue]:
        """The values of a partition. Files share partitions, so they are made once."""
        found = self._cache.get(key)
        if found is None:
            found = [self._value(place, stored) for place, stored in enumerate(key)]
            if len(self._cache) < _MAX_CACHED:
                self._cache[key] = found
        return found

    def _value(self, place: int, stored: Any) -> PartitionValue:
        value = PartitionValue()
        value.CopyFrom(self._empty[place])
        if stored is not None:
            primitive = self._fields[place][1]
            value.value = str(stored) if primitive is None else canonical(primitive, stored)
        return value


def partition_readers(metadata: TableMetadata) -> dict[int, PartitionReader]:
    """A reader for every spec that the table has or had."""
    types = types_by_id({**metadata.schemas, -1: metadata.schema})
    return {spec_id: PartitionReader(spec, types) for spec_id, spec in metadata.specs.items()}


def canonical(primitive: Primitive, stored: Any) -> str:
    """The canonical string of a value as Avro stores it."""
    match primitive.name:
        case PrimitiveName.DECIMAL:
            unscaled = int.from_bytes(stored, "big", signed=True)
            return format_value(primitive.logical, scaled(unscaled, primitive.scale))
        case PrimitiveName.UUID:
            return str(read_uuid(stored))
        case PrimitiveName.FLOAT | PrimitiveName.DOUBLE:
            return format_value(primitive.logical, float(stored))
        case name if name in _MICROS:
            return format_value(primitive.logical, stored * 1_000)
        case _:
            return format_value(primitive.logical, stored)
