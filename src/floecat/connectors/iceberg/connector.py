"""IcebergConnector: the SPI over whatever catalog the tables are in."""

from collections.abc import Collection, Iterable, Iterator, Mapping

from google.protobuf.timestamp_pb2 import Timestamp

from ai.floedb.floecat.catalog.stats_pb2 import TargetStatsRecord
from ai.floedb.floecat.connector.connector_pb2 import ConnectorFormat
from floecat.connectors.iceberg.catalog import Located, SourceCatalog, dotted
from floecat.connectors.iceberg.documents import Document, read_document
from floecat.connectors.iceberg.errors import reading
from floecat.connectors.iceberg.files import Planning, columns_of
from floecat.connectors.iceberg.metadata import Snapshot, TableMetadata, parse_metadata
from floecat.connectors.iceberg.puffin import distinct_values
from floecat.connectors.iceberg.snapshots import enumerate_snapshots
from floecat.connectors.iceberg.storage import SourceFiles
from floecat.connectors.iceberg.tables import describe_table
from floecat.connectors.iceberg.views import describe_view
from floecat.connectors.spi.access import FileAccess
from floecat.connectors.spi.capabilities import Capabilities
from floecat.connectors.spi.columns import ColumnScope, SourceColumn
from floecat.connectors.spi.connector import FloecatConnector
from floecat.connectors.spi.emitter import StatsProtoEmitter
from floecat.connectors.spi.errors import UnsupportedByConnectorError, UpstreamGoneError
from floecat.connectors.spi.ndv import ColumnNdv, StaticOnceNdvProvider
from floecat.connectors.spi.records import (
    Namespace,
    ScanBundle,
    SnapshotBundle,
    SnapshotEnumerationOptions,
    TableDescriptor,
    ViewDescriptor,
)
from floecat.connectors.spi.statistics import GenericStatsEngine
from floecat.types.policy import TimestampPolicy


class IcebergConnector(FloecatConnector):
    """Metadata files are immutable, so the last one that was read needn't be read again."""

    format = ConnectorFormat.CF_ICEBERG

    def __init__(
        self,
        identity: str,
        catalog: SourceCatalog,
        capabilities: Capabilities,
        policy: TimestampPolicy,
    ) -> None:
        self._id = identity
        self._catalog = catalog
        self._capabilities = capabilities
        self._policy = policy
        self._last: TableMetadata | None = None

    @property
    def id(self) -> str:
        return self._id

    @property
    def capabilities(self) -> Capabilities:
        return self._capabilities

    def list_namespaces(self) -> Iterable[Namespace]:
        return self._catalog.namespaces()

    def list_tables(self, namespace: Namespace) -> Iterable[str]:
        return self._catalog.tables(namespace)

    def table_revisions(self, namespace: Namespace, names: Collection[str]) -> Mapping[str, str]:
        return self._catalog.revisions(namespace, names)

    def describe(self, namespace: Namespace, name: str) -> TableDescriptor:
        located, metadata = self._table(namespace, name)
        with reading(dotted(namespace, name)):
            return describe_table(namespace, name, metadata, dict(located.properties))

    def list_views(self, namespace: Namespace) -> Iterable[str]:
        self._need_views()
        return self._catalog.views(namespace)

    def describe_view(self, namespace: Namespace, name: str) -> ViewDescriptor:
        self._need_views()
        with reading(dotted(namespace, name)):
            located = self._catalog.find_view(namespace, name)
            return describe_view(namespace, name, _document(located))

    def enumerate_snapshots(
        self, namespace: Namespace, name: str, options: SnapshotEnumerationOptions
    ) -> Iterable[SnapshotBundle]:
        _, metadata = self._table(namespace, name)
        with reading(dotted(namespace, name)):
            yield from enumerate_snapshots(metadata, options)

    def plan_snapshot_files(
        self, namespace: Namespace, name: str, snapshot_id: int, columns: ColumnScope | None = None
    ) -> ScanBundle:
        located, metadata = self._table(namespace, name)
        return self._plan(located, metadata, dotted(namespace, name), snapshot_id, columns)

    def snapshot_columns(
        self, namespace: Namespace, name: str, snapshot_id: int
    ) -> tuple[SourceColumn, ...]:
        _, metadata = self._table(namespace, name)
        relation = dotted(namespace, name)
        with reading(relation):
            return columns_of(metadata, _snapshot(metadata, relation, snapshot_id))

    def capture_snapshot_target_stats(
        self, namespace: Namespace, name: str, snapshot_id: int, columns: ColumnScope
    ) -> Iterable[TargetStatsRecord]:
        located, metadata = self._table(namespace, name)
        bundle = self._plan(located, metadata, dotted(namespace, name), snapshot_id, columns)
        captured_at = Timestamp()
        captured_at.GetCurrentTime()
        emitter = StatsProtoEmitter("iceberg", snapshot_id, captured_at)
        distinct = StaticOnceNdvProvider(self._distinct(located, metadata, snapshot_id))
        records = GenericStatsEngine(emitter, distinct).capture(
            bundle, columns.selected(bundle.columns)
        )
        return _of_relation(dotted(namespace, name), records)

    def distinct_values(
        self, namespace: Namespace, name: str, snapshot_id: int
    ) -> Mapping[int, ColumnNdv]:
        located, metadata = self._table(namespace, name)
        with reading(dotted(namespace, name)):
            return self._distinct(located, metadata, snapshot_id)

    def file_access(self, namespace: Namespace, name: str) -> FileAccess:
        with reading(dotted(namespace, name)):
            return self._catalog.find_table(namespace, name).access

    def close(self) -> None:
        self._catalog.close()

    def _table(self, namespace: Namespace, name: str) -> tuple[Located, TableMetadata]:
        with reading(dotted(namespace, name)):
            located = self._catalog.find_table(namespace, name)
            known = self._last
            if known and known.metadata_location == located.metadata_location != "":
                return located, known
            self._last = parse_metadata(_document(located), located.metadata_location)
            return located, self._last

    def _plan(
        self,
        located: Located,
        metadata: TableMetadata,
        relation: str,
        snapshot_id: int,
        columns: ColumnScope | None,
    ) -> ScanBundle:
        snapshot = _snapshot(metadata, relation, snapshot_id)
        files = SourceFiles(located.access)
        planning = Planning(relation=relation, metadata=metadata, files=files, policy=self._policy)
        return planning.plan(snapshot, columns)

    def _distinct(
        self, located: Located, metadata: TableMetadata, snapshot_id: int
    ) -> dict[int, ColumnNdv]:
        files = SourceFiles(located.access)
        found: dict[int, ColumnNdv] = {}
        for statistics in metadata.statistics:
            if statistics.snapshot_id == snapshot_id:
                found |= distinct_values(files, statistics)
        return found

    def _need_views(self) -> None:
        if not self._capabilities.views:
            raise UnsupportedByConnectorError("this kind of Iceberg catalog has no views")


def _snapshot(metadata: TableMetadata, relation: str, snapshot_id: int) -> Snapshot:
    snapshot = metadata.snapshots.get(snapshot_id)
    if snapshot is None:
        raise UpstreamGoneError(f"{relation} has no snapshot {snapshot_id} (any more)")
    return snapshot


def _of_relation(
    relation: str, records: Iterator[TargetStatsRecord]
) -> Iterator[TargetStatsRecord]:
    """What is merged may turn out to be nonsense as well: counts that add up to too much."""
    with reading(relation):
        yield from records


def _document(located: Located) -> Document:
    if located.document is not None:
        return located.document
    return read_document(SourceFiles(located.access), located.metadata_location)
