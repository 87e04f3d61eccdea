"""A table's metadata as the specification has it, versions 1 to 3, from its JSON.

What isn't needed isn't looked at, so that a part nobody here knows doesn't make a table unreadable.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from floecat.connectors.iceberg.documents import Document, find, get, objects, texts

MAIN: Final = "main"
_NO_SNAPSHOT: Final = -1
_FIRST_PARTITION_FIELD: Final = 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class PartitionField:
    """A field that files are partitioned by."""

    field_id: int
    source_id: int
    name: str
    transform: str


@dataclass(frozen=True, slots=True)
class PartitionSpec:
    """A way the table is, or was, partitioned."""

    spec_id: int
    fields: tuple[PartitionField, ...]

    @property
    def is_unpartitioned(self) -> bool:
        return all(field.transform == "void" for field in self.fields)


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """A state of the table."""

    snapshot_id: int
    parent_id: int | None
    sequence_number: int
    timestamp_ms: int
    manifest_list: str
    manifests: tuple[str, ...]
    """Version 1 may list manifests here instead."""
    summary: Mapping[str, str]
    schema_id: int | None
    document: Document


@dataclass(frozen=True, slots=True, kw_only=True)
class StatisticsFile:
    """A Puffin file with statistics of a snapshot."""

    snapshot_id: int
    path: str
    document: Document


@dataclass(frozen=True, slots=True, kw_only=True)
class TableMetadata:
    """Everything a metadata file says that is used here."""

    format_version: int
    uuid: str
    location: str
    metadata_location: str
    last_sequence_number: int
    schemas: Mapping[int, Document]
    current_schema_id: int
    specs: Mapping[int, PartitionSpec]
    default_spec_id: int
    sort_orders: tuple[Document, ...]
    default_sort_order_id: int
    properties: Mapping[str, str]
    snapshots: Mapping[int, Snapshot]
    current_snapshot_id: int | None
    snapshot_log: tuple[tuple[int, int], ...]
    """When which snapshot became current: milliseconds and id."""
    refs: Mapping[str, Document] = field(default_factory=dict)
    statistics: tuple[StatisticsFile, ...] = ()
    partition_statistics: tuple[Document, ...] = ()

    @property
    def schema(self) -> Document:
        """The schema as it is now."""
        return self.schemas[self.current_schema_id]

    def schema_of(self, snapshot: Snapshot) -> Document:
        """The schema that a snapshot was written with; the current one if it doesn't say."""
        if snapshot.schema_id is None or snapshot.schema_id not in self.schemas:
            return self.schema
        return self.schemas[snapshot.schema_id]


def parse_metadata(document: Document, location: str) -> TableMetadata:
    """Raises what is in `errors.MALFORMED` when the document isn't a table's metadata."""
    version = get(document, "format-version", int)
    if not 1 <= version <= 3:
        raise ValueError(f"Iceberg's format version {version} isn't known here; 1 to 3 are")
    schemas = _schemas(document)
    specs = _specs(document)
    current = find(document, "current-snapshot-id", int)
    snapshots = [_snapshot(part) for part in objects(document, "snapshots")]
    metadata = TableMetadata(
        format_version=version,
        uuid=find(document, "table-uuid", str) or "",
        location=get(document, "location", str),
        metadata_location=location,
        last_sequence_number=find(document, "last-sequence-number", int) or 0,
        schemas=schemas,
        current_schema_id=_chosen(document, "current-schema-id", schemas),
        specs=specs,
        default_spec_id=_chosen(document, "default-spec-id", specs),
        sort_orders=tuple(objects(document, "sort-orders")),
        default_sort_order_id=find(document, "default-sort-order-id", int) or 0,
        properties=texts(document, "properties"),
        snapshots={snapshot.snapshot_id: snapshot for snapshot in snapshots},
        current_snapshot_id=None if current in {None, _NO_SNAPSHOT} else current,
        snapshot_log=_log(document),
        refs=find(document, "refs", dict) or _main(current),
        statistics=tuple(_statistics_file(part) for part in objects(document, "statistics")),
        partition_statistics=tuple(objects(document, "partition-statistics")),
    )
    if metadata.current_snapshot_id not in {None, *metadata.snapshots}:
        raise ValueError(f"the current snapshot {metadata.current_snapshot_id} isn't listed")
    return metadata


def _schemas(document: Document) -> dict[int, Document]:
    listed = objects(document, "schemas")
    if not listed:
        legacy: dict[str, object] = get(document, "schema", dict)
        listed = [{"schema-id": 0, **legacy}]
    return {find(schema, "schema-id", int) or 0: schema for schema in listed}


def _specs(document: Document) -> dict[int, PartitionSpec]:
    listed = objects(document, "partition-specs")
    if not listed:
        listed = [{"spec-id": 0, "fields": find(document, "partition-spec", list) or []}]
    specs = (_spec(spec) for spec in listed)
    return {spec.spec_id: spec for spec in specs}


def _spec(document: Document) -> PartitionSpec:
    fields = tuple(
        PartitionField(
            field_id=_or(find(part, "field-id", int), _FIRST_PARTITION_FIELD + position),
            source_id=_source_id(part),
            name=get(part, "name", str),
            transform=get(part, "transform", str),
        )
        for position, part in enumerate(objects(document, "fields"))
    )
    return PartitionSpec(find(document, "spec-id", int) or 0, fields)


def _source_id(part: Document) -> int:
    """Version 3 lists the sources of transforms that take more than one column."""
    several: list[object] = find(part, "source-ids", list) or []
    if several and isinstance(several[0], int):
        return several[0]
    return get(part, "source-id", int)


def _snapshot(document: Document) -> Snapshot:
    manifests: list[object] = find(document, "manifests", list) or []
    manifest_list = find(document, "manifest-list", str) or ""
    return Snapshot(
        snapshot_id=get(document, "snapshot-id", int),
        parent_id=find(document, "parent-snapshot-id", int),
        sequence_number=find(document, "sequence-number", int) or 0,
        timestamp_ms=get(document, "timestamp-ms", int),
        manifest_list=manifest_list,
        manifests=() if manifest_list else tuple(str(path) for path in manifests),
        summary=texts(document, "summary"),
        schema_id=find(document, "schema-id", int),
        document=document,
    )


def _statistics_file(document: Document) -> StatisticsFile:
    return StatisticsFile(
        snapshot_id=get(document, "snapshot-id", int),
        path=get(document, "statistics-path", str),
        document=document,
    )


def _log(document: Document) -> tuple[tuple[int, int], ...]:
    entries = objects(document, "snapshot-log")
    return tuple((get(e, "timestamp-ms", int), get(e, "snapshot-id", int)) for e in entries)


def _main(current: int | None) -> dict[str, Document]:
    """Before there were references, the current snapshot was the main branch."""
    if current in {None, _NO_SNAPSHOT}:
        return {}
    return {MAIN: {"snapshot-id": current, "type": "branch"}}


def _chosen(document: Document, key: str, among: Mapping[int, object]) -> int:
    chosen = _or(find(document, key, int), next(iter(among)))
    if chosen not in among:
        raise ValueError(f"{key!r} is {chosen}, which isn't listed")
    return chosen


def _or(found: int | None, default: int) -> int:
    return default if found is None else found
