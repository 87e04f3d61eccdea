"""A connector of your own: folders of plain parquet files, `<root>/<namespace>/<table>/*.parquet`.

A package offers it by an entry point, after which `floecat connector create --kind parquet-folder`
knows it:

    [project.entry-points."floecat.connectors"]
    parquet-folder = "parquet_folder_connector:FACTORY"

Its test subclasses `floecat.connectors.testing.ConnectorConformance`.
"""

import hashlib
import json
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
from google.protobuf.timestamp_pb2 import Timestamp

from ai.floedb.floecat.catalog.stats_pb2 import FileColumnStats, ScalarStats, TargetStatsRecord
from ai.floedb.floecat.connector.connector_pb2 import ConnectorFormat
from ai.floedb.floecat.execution.scan_pb2 import ScanFile, ScanFileContent
from floecat.connectors.spi.access import FileAccess
from floecat.connectors.spi.capabilities import Capabilities
from floecat.connectors.spi.columns import ColumnScope, NumberedColumn, SourceColumn
from floecat.connectors.spi.config import ConnectorConfig
from floecat.connectors.spi.connector import FloecatConnector
from floecat.connectors.spi.emitter import StatsProtoEmitter
from floecat.connectors.spi.errors import (
    BrokenTableError,
    UnsupportedByConnectorError,
    UpstreamGoneError,
)
from floecat.connectors.spi.factory import ConnectorEnvironment, ConnectorOption
from floecat.connectors.spi.records import (
    Namespace,
    ScanBundle,
    SnapshotBundle,
    SnapshotEnumerationOptions,
    TableDescriptor,
    ViewDescriptor,
)
from floecat.connectors.spi.statistics import GenericStatsEngine
from floecat.security.guard import OutboundRules
from floecat.types.bounds import lower_bound, upper_bound
from floecat.types.mapping.arrow import from_arrow
from floecat.types.messages import to_message

CAPABILITIES = Capabilities(time_travel=False, revisions=True)


class ParquetFolderConnector(FloecatConnector):
    """One snapshot per table: the files that are there now."""

    format = ConnectorFormat.CF_OTHER
    capabilities = CAPABILITIES

    def __init__(self, root: Path, rules: OutboundRules) -> None:
        self._root = root
        self._rules = rules

    @property
    def id(self) -> str:
        return f"parquet-folder:{self._root}"

    def list_namespaces(self) -> Iterable[Namespace]:
        return [(folder.name,) for folder in _folders(self._root)]

    def list_tables(self, namespace: Namespace) -> Iterable[str]:
        return [folder.name for folder in _folders(self._root.joinpath(*namespace))]

    def describe(self, namespace: Namespace, name: str) -> TableDescriptor:
        table = self._table(namespace, name)
        return TableDescriptor(
            namespace=namespace,
            name=name,
            location=f"file://{table.folder}",
            schema_json=table.schema_json,
            columns=table.columns,
            current_snapshot_id=table.snapshot_id,
        )

    def table_revisions(self, namespace: Namespace, names: Collection[str]) -> Mapping[str, str]:
        """Which files there are, how large and how old: no footer is read for that."""
        folder = self._root.joinpath(*namespace)
        files = {name: sorted(folder.joinpath(name).glob("*.parquet")) for name in names}
        return {name: _revision(found) for name, found in files.items() if found}

    def enumerate_snapshots(
        self, namespace: Namespace, name: str, options: SnapshotEnumerationOptions
    ) -> Iterable[SnapshotBundle]:
        table = self._table(namespace, name)
        if options.wants(table.snapshot_id):
            yield SnapshotBundle(
                snapshot_id=table.snapshot_id,
                created_at=datetime.fromtimestamp(table.snapshot_id / 1000, UTC),
                schema_json=table.schema_json,
                columns=table.columns,
                summary={"files": str(len(table.files))},
            )

    def plan_snapshot_files(
        self, namespace: Namespace, name: str, snapshot_id: int, columns: ColumnScope | None = None
    ) -> ScanBundle:
        table = self._table(namespace, name)
        if snapshot_id != table.snapshot_id:
            raise UpstreamGoneError(f"{name} isn't as it was in snapshot {snapshot_id} any more")
        wanted = columns.selected(table.columns) if columns else []
        return ScanBundle(
            snapshot_id=snapshot_id,
            schema_json=table.schema_json,
            columns=table.columns,
            delete_files=(),
            data_files=_Files(table.files, wanted),
        )

    def capture_snapshot_target_stats(
        self, namespace: Namespace, name: str, snapshot_id: int, columns: ColumnScope
    ) -> Iterable[TargetStatsRecord]:
        bundle = self.plan_snapshot_files(namespace, name, snapshot_id, columns)
        now = Timestamp()
        now.GetCurrentTime()
        emitter = StatsProtoEmitter("parquet-folder", snapshot_id, now)
        return GenericStatsEngine(emitter).capture(bundle, columns.selected(bundle.columns))

    def list_views(self, namespace: Namespace) -> Iterable[str]:
        raise UnsupportedByConnectorError("folders of files have no views")

    def describe_view(self, namespace: Namespace, name: str) -> ViewDescriptor:
        raise UnsupportedByConnectorError("folders of files have no views")

    def file_access(self, namespace: Namespace, name: str) -> FileAccess:
        return FileAccess(rules=self._rules)

    def close(self) -> None:
        """Nothing is kept open."""

    def _table(self, namespace: Namespace, name: str) -> "_Table":
        files = sorted(self._root.joinpath(*namespace, name).glob("*.parquet"))
        if not files:
            raise UpstreamGoneError(f"there is no table {'.'.join((*namespace, name))}")
        try:
            schema = pq.read_schema(files[0])
        except pa.ArrowInvalid as error:
            raise BrokenTableError(f"{files[0].name} of {name} isn't a parquet file") from error
        return _Table(files[0].parent, tuple(files), schema)


class ParquetFolderFactory:
    """Opens such connectors; the URI is the folder's."""

    kind_name = "parquet-folder"
    format = ConnectorFormat.CF_OTHER
    capabilities = CAPABILITIES
    options: tuple[ConnectorOption, ...] = ()

    def check(self, config: ConnectorConfig) -> None:
        """Any folder may do."""

    def create(
        self, config: ConnectorConfig, environment: ConnectorEnvironment
    ) -> FloecatConnector:
        guard = environment.guard
        return ParquetFolderConnector(guard.check_path(config.uri), guard.rules)


FACTORY = ParquetFolderFactory()


@dataclass(frozen=True)
class _Table:
    folder: Path
    files: tuple[Path, ...]
    schema: pa.Schema

    @property
    def snapshot_id(self) -> int:
        """When something last changed, in milliseconds."""
        return max(file.stat().st_mtime_ns for file in self.files) // 1_000_000

    @property
    def schema_json(self) -> str:
        return json.dumps([{"name": field.name, "type": str(field.type)} for field in self.schema])

    @property
    def columns(self) -> tuple[SourceColumn, ...]:
        flat = (field for field in self.schema if not pa.types.is_nested(field.type))
        return tuple(
            SourceColumn(
                path=(field.name,),
                logical_type=from_arrow(field.type, field.name),
                required=not field.nullable,
                source_type=str(field.type),
            )
            for field in flat
        )


@dataclass(frozen=True)
class _Files:
    """The files, their footers read one at a time."""

    paths: tuple[Path, ...]
    columns: list[NumberedColumn]

    def __iter__(self) -> Iterator[ScanFile]:
        for path in self.paths:
            footer = pq.read_metadata(path)
            yield ScanFile(
                file_path=f"file://{path}",
                file_size_bytes=path.stat().st_size,
                record_count=footer.num_rows,
                file_format="parquet",
                content=ScanFileContent.SFC_DATA,
                format_mark=str(path.stat().st_mtime_ns),
                columns=[
                    FileColumnStats(
                        column_id=column.column_id, scalar=_scalar(footer, column, leaf)
                    )
                    for column in self.columns
                    if (leaf := _find_leaf(footer, column.column)) is not None
                ],
            )


def _revision(files: list[Path]) -> str:
    told = [(file.name, file.stat().st_size, file.stat().st_mtime_ns) for file in files]
    return hashlib.sha256(repr(told).encode()).hexdigest()


def _find_leaf(footer: pq.FileMetaData, column: SourceColumn) -> int | None:
    """Where a file has a column; None when it has none of that name and type.

    The footer counts leaves: a struct has as many as it has fields inside.
    """
    kind = {field.name: str(field.type) for field in footer.schema.to_arrow_schema()}
    if kind.get(column.name) != column.source_type:
        return None
    leaves = (footer.schema.column(number) for number in range(footer.num_columns))
    paths = [(leaf.name, leaf.path) for leaf in leaves]
    return paths.index((column.name, column.name))


def _scalar(footer: pq.FileMetaData, column: NumberedColumn, leaf: int) -> ScalarStats:
    """What the footer says about a column; what one row group doesn't know is left unset."""
    logical = column.column.logical_type
    groups = [footer.row_group(number).column(leaf) for number in range(footer.num_row_groups)]
    known = [group.statistics for group in groups]
    stats = ScalarStats(
        display_name=column.column.name,
        logical_type=to_message(logical),
        value_count=footer.num_rows,
    )
    if all(known) and all(part.has_null_count for part in known):
        stats.null_count = sum(part.null_count for part in known)
    if known and all(known) and all(part.has_min_max for part in known):
        low = lower_bound(logical, min(part.min for part in known), is_tight=False)
        high = upper_bound(logical, max(part.max for part in known), is_tight=False)
        if low and high:
            stats.min, stats.min_tight = low.encoded, low.is_tight
            stats.max, stats.max_tight = high.encoded, high.is_tight
    return stats


def _folders(folder: Path) -> list[Path]:
    if not folder.is_dir():
        raise UpstreamGoneError(f"there is no folder {folder}")
    return sorted(entry for entry in folder.iterdir() if entry.is_dir())
