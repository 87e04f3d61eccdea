"""Snapshots as the SPI has them, parents first."""

import json
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from typing import Final

from ai.floedb.floecat.catalog.constraints_pb2 import (
    ConstraintColumn,
    ConstraintDefinition,
    ConstraintEnforcement,
    ConstraintType,
)
from floecat.connectors.iceberg.documents import Document
from floecat.connectors.iceberg.metadata import Snapshot, TableMetadata
from floecat.connectors.iceberg.schema import Leaf, identifier_fields, leaves_of
from floecat.connectors.spi.records import SnapshotBundle, SnapshotEnumerationOptions

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


def schema_json(schema: Document) -> str:
    """A schema in Iceberg's own form."""
    return json.dumps(schema, separators=(",", ":"), ensure_ascii=False)


def enumerate_snapshots(
    metadata: TableMetadata, options: SnapshotEnumerationOptions
) -> Iterator[SnapshotBundle]:
    """The wanted snapshots. A schema is taken apart once, however many snapshots have it."""
    schemas = _Schemas(metadata)
    current_at: dict[int, list[int]] = {}
    for moment, snapshot_id in metadata.snapshot_log:
        current_at.setdefault(snapshot_id, []).append(moment)
    for snapshot in parents_first(metadata.snapshots):
        if options.wants(snapshot.snapshot_id):
            moments = current_at.get(snapshot.snapshot_id, [])
            yield _bundle(metadata, snapshot, schemas, moments)


def parents_first(snapshots: Mapping[int, Snapshot]) -> Iterator[Snapshot]:
    """Every snapshot once, after its parent where that is still there; otherwise by age."""
    done: set[int] = set()
    by_age = sorted(snapshots.values(), key=lambda s: (s.sequence_number, s.timestamp_ms))
    for youngest in by_age:
        line: list[Snapshot] = []
        snapshot: Snapshot | None = youngest
        while snapshot and snapshot.snapshot_id not in done:
            line.append(snapshot)
            done.add(snapshot.snapshot_id)
            snapshot = snapshots.get(snapshot.parent_id) if snapshot.parent_id else None
        yield from reversed(line)


class _Schemas:
    """The parts of a bundle that come from the schema, by the schema's id."""

    def __init__(self, metadata: TableMetadata) -> None:
        self._metadata = metadata
        self._known: dict[int, tuple[str, tuple[Leaf, ...], tuple[ConstraintDefinition, ...]]] = {}

    def of(
        self, snapshot: Snapshot
    ) -> tuple[str, tuple[Leaf, ...], tuple[ConstraintDefinition, ...]]:
        schema = self._metadata.schema_of(snapshot)
        key = id(schema)
        if key not in self._known:
            leaves = leaves_of(schema)
            self._known[key] = (schema_json(schema), leaves, constraints_of(schema, leaves))
        return self._known[key]


def _bundle(
    metadata: TableMetadata, snapshot: Snapshot, schemas: _Schemas, current_at: list[int]
) -> SnapshotBundle:
    text, leaves, constraints = schemas.of(snapshot)
    return SnapshotBundle(
        snapshot_id=snapshot.snapshot_id,
        created_at=_EPOCH + timedelta(milliseconds=snapshot.timestamp_ms),
        schema_json=text,
        columns=tuple(leaf.column for leaf in leaves),
        parent_id=snapshot.parent_id,
        sequence_number=snapshot.sequence_number,
        manifest_list=snapshot.manifest_list,
        summary=snapshot.summary,
        schema_id=snapshot.schema_id,
        constraints=constraints,
        metadata=_attachments(metadata, snapshot, current_at),
    )


def _attachments(
    metadata: TableMetadata, snapshot: Snapshot, current_at: list[int]
) -> dict[str, bytes]:
    """What only Iceberg understands, as its own JSON."""
    mine = snapshot.snapshot_id
    found: dict[str, object] = {"iceberg.snapshot": snapshot.document}
    if current_at:
        found["iceberg.snapshot-log"] = current_at
    statistics = [file.document for file in metadata.statistics if file.snapshot_id == mine]
    if statistics:
        found["iceberg.statistics"] = statistics
    partitions = [part for part in metadata.partition_statistics if part.get("snapshot-id") == mine]
    if partitions:
        found["iceberg.partition-statistics"] = partitions
    return {key: json.dumps(value, ensure_ascii=False).encode() for key, value in found.items()}


def constraints_of(schema: Document, leaves: tuple[Leaf, ...]) -> tuple[ConstraintDefinition, ...]:
    """Required columns, which writers see to, and identifier fields, which nobody does."""
    by_id = {leaf.field_id: leaf.column for leaf in leaves if not leaf.repeated}
    found = [
        ConstraintDefinition(
            name=f"{column.name}_not_null",
            type=ConstraintType.CT_NOT_NULL,
            columns=[ConstraintColumn(column_id=field_id, name=column.name)],
            enforcement=ConstraintEnforcement.CE_ENFORCED,
        )
        for field_id, column in by_id.items()
        if column.required
    ]
    keys = [field_id for field_id in identifier_fields(schema) if field_id in by_id]
    if keys:
        columns = [ConstraintColumn(column_id=key, name=by_id[key].name) for key in keys]
        found.append(
            ConstraintDefinition(
                name="identifier_fields",
                type=ConstraintType.CT_PRIMARY_KEY,
                columns=columns,
                enforcement=ConstraintEnforcement.CE_NOT_ENFORCED,
            )
        )
    return tuple(found)
