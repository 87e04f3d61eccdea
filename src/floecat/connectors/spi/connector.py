"""FloecatConnector: the one interface through which Floecat sees an upstream."""

from collections.abc import Collection, Iterable, Mapping
from types import TracebackType
from typing import Protocol, Self

from ai.floedb.floecat.catalog.stats_pb2 import TargetStatsRecord
from ai.floedb.floecat.connector.connector_pb2 import ConnectorFormat
from floecat.connectors.spi.access import FileAccess
from floecat.connectors.spi.capabilities import Capabilities
from floecat.connectors.spi.columns import ColumnScope, SourceColumn
from floecat.connectors.spi.ndv import ColumnNdv
from floecat.connectors.spi.records import (
    Namespace,
    ScanBundle,
    SnapshotBundle,
    SnapshotEnumerationOptions,
    TableDescriptor,
    ViewDescriptor,
)


class FloecatConnector(Protocol):
    """An open connection to one upstream catalog.

    Reads only, never data pages. One thread uses it at a time. Every method but `close` may raise
    `TransientUpstreamError` or `PermanentUpstreamError`; methods about one relation may raise
    `UpstreamGoneError` and `BrokenTableError`, after which the connector is as usable as before.
    What `capabilities` denies raises `UnsupportedByConnectorError`.
    """

    @property
    def id(self) -> str:
        """Stable: the same configuration has the same id in every process."""

    @property
    def format(self) -> "ConnectorFormat.ValueType":
        """The format of its tables."""

    @property
    def capabilities(self) -> Capabilities:
        """What it can do."""

    def list_namespaces(self) -> Iterable[Namespace]:
        """Every namespace, of any depth, once; a parent before its children."""

    def list_tables(self, namespace: Namespace) -> Iterable[str]:
        """The tables directly in a namespace, once each, broken ones too."""

    def describe(self, namespace: Namespace, name: str) -> TableDescriptor:
        """One table as it is now."""

    def table_revisions(self, namespace: Namespace, names: Collection[str]) -> Mapping[str, str]:
        """What each of some tables of a namespace is at now, as an opaque text of its own.

        A table's text changes whenever `describe` or `enumerate_snapshots` would say something else
        of it, and stays the same otherwise, in every process. Telling it costs much less than those
        do. Tables it isn't known of, broken and missing ones among them, are left out.
        """
        return {}

    def table_revision(self, namespace: Namespace, name: str) -> str | None:
        """The revision of one table; None if it isn't known."""
        return self.table_revisions(namespace, (name,)).get(name)

    def list_views(self, namespace: Namespace) -> Iterable[str]:
        """The views directly in a namespace, once each."""

    def describe_view(self, namespace: Namespace, name: str) -> ViewDescriptor:
        """One view as it is now."""

    def enumerate_snapshots(
        self, namespace: Namespace, name: str, options: SnapshotEnumerationOptions
    ) -> Iterable[SnapshotBundle]:
        """The wanted snapshots, a parent before its children."""

    def plan_snapshot_files(
        self, namespace: Namespace, name: str, snapshot_id: int, columns: ColumnScope | None = None
    ) -> ScanBundle:
        """The files of a snapshot, with statistics of the columns asked for (None: of none)."""

    def snapshot_columns(
        self, namespace: Namespace, name: str, snapshot_id: int
    ) -> tuple[SourceColumn, ...]:
        """The columns that `plan_snapshot_files` tells, without a look at any file."""
        return self.plan_snapshot_files(namespace, name, snapshot_id).columns

    def capture_snapshot_target_stats(
        self, namespace: Namespace, name: str, snapshot_id: int, columns: ColumnScope
    ) -> Iterable[TargetStatsRecord]:
        """What the metadata alone knows: a FILE record per data file, COLUMN records, TABLE last.

        Streamed. `table_id` is left to the caller, who knows it. What isn't known stays unset.
        """

    def distinct_values(
        self, namespace: Namespace, name: str, snapshot_id: int
    ) -> Mapping[int, ColumnNdv]:
        """Numbers of distinct values that the upstream keeps of exactly this snapshot.

        By the format's own column ids. What can't be read of them is left out.
        """
        return {}

    def file_access(self, namespace: Namespace, name: str) -> FileAccess:
        """How to open a table's files: with the rights of this connector, and short-lived."""

    def close(self) -> None:
        """Give everything back: sockets, files, threads. Any number of times."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        _kind: type[BaseException] | None,
        _error: BaseException | None,
        _trace: TracebackType | None,
    ) -> None:
        self.close()
