"""What connectors report: immutable records with canonical metadata."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import TypeAlias

from ai.floedb.floecat.catalog.constraints_pb2 import ConstraintDefinition
from ai.floedb.floecat.catalog.stats_pb2 import TargetStatsRecord
from ai.floedb.floecat.catalog.table_pb2 import (
    PartitionSpec,
    SnapshotReference,
    SortOrder,
)
from ai.floedb.floecat.catalog.view_pb2 import ViewColumn, ViewSqlDefinition
from ai.floedb.floecat.common.common_pb2 import NameRef
from ai.floedb.floecat.execution.scan_pb2 import ScanFile
from floecat.connectors.spi.columns import SourceColumn

Namespace: TypeAlias = tuple[str, ...]
"""From the top down. A tuple, because a name may hold any character, dots too."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TableDescriptor:
    """A table as it is now upstream."""

    namespace: Namespace
    name: str
    location: str
    schema_json: str
    """In the form that the table's format defines."""
    columns: tuple[SourceColumn, ...]
    """The leaves of the schema."""
    partition_keys: tuple[str, ...] = ()
    """Columns (or, with a transform, partition fields) of the current layout, by name."""
    partition_specs: tuple[PartitionSpec, ...] = ()
    default_partition_spec_id: int = 0
    sort_orders: tuple[SortOrder, ...] = ()
    default_sort_order_id: int = 0
    references: tuple[SnapshotReference, ...] = ()
    current_snapshot_id: int | None = None
    """None when the table has no snapshot yet."""
    description: str = ""
    properties: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class ViewDescriptor:
    """A view as it is now upstream."""

    namespace: Namespace
    name: str
    sql_definitions: tuple[ViewSqlDefinition, ...]
    output_columns: tuple[ViewColumn, ...] = ()
    base_relations: tuple[NameRef, ...] = ()
    default_catalog: str = ""
    default_namespace: Namespace = ()
    description: str = ""
    properties: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class SnapshotEnumerationOptions:
    """Which snapshots are wanted."""

    full_rescan: bool = False
    """Every snapshot, known or not."""
    known_snapshot_ids: frozenset[int] = frozenset()
    """Left out, unless the rescan is full or they are targets."""
    target_snapshot_ids: frozenset[int] | None = None
    """Only these; ids that aren't there upstream are left out. None means no such limit."""

    def wants(self, snapshot_id: int) -> bool:
        """Whether a snapshot is to be reported."""
        if self.target_snapshot_ids is not None:
            return snapshot_id in self.target_snapshot_ids
        return self.full_rescan or snapshot_id not in self.known_snapshot_ids


@dataclass(frozen=True, slots=True, kw_only=True)
class SnapshotBundle:
    """One snapshot's metadata."""

    snapshot_id: int
    created_at: datetime
    """When the upstream committed it, with a zone."""
    schema_json: str
    columns: tuple[SourceColumn, ...]
    """The leaves of the schema as of this snapshot."""
    parent_id: int | None = None
    sequence_number: int | None = None
    manifest_list: str = ""
    summary: Mapping[str, str] = field(default_factory=dict)
    schema_id: int | None = None
    partition_spec_id: int | None = None
    constraints: tuple[ConstraintDefinition, ...] = ()
    """Column ids are set where the format has them, names always."""
    metadata: Mapping[str, bytes] = field(default_factory=dict)
    """Payloads that only the format understands; they are kept as the snapshot's attachments."""
    file_stats: tuple[TargetStatsRecord, ...] | None = None
    """FILE records, when they come for free with the metadata. None: ask for them."""
    properties: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class ScanBundle:
    """The files of one snapshot."""

    snapshot_id: int
    schema_json: str
    columns: tuple[SourceColumn, ...]
    """The leaves of the schema as of this snapshot."""
    delete_files: tuple[ScanFile, ...]
    """What takes rows away; `delete_file_indexes` of the data files point into it."""
    data_files: Iterable[ScanFile]
    """Streamed: each pass over it reads the metadata anew, a piece at a time."""
