"""DeltaConnector: a source of tables, and the log of each."""

import json
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from datetime import datetime
from typing import Any, Final

from google.protobuf.timestamp_pb2 import Timestamp

from ai.floedb.floecat.catalog.stats_pb2 import TargetStatsRecord
from ai.floedb.floecat.catalog.table_pb2 import PartitionField, PartitionSpec
from ai.floedb.floecat.connector.connector_pb2 import ConnectorFormat
from floecat.clock import utc_now
from floecat.connectors.delta.constraints import constraints
from floecat.connectors.delta.files import FIRST_PARTITION_FIELD, plan
from floecat.connectors.delta.log.actions import CommitInfo
from floecat.connectors.delta.log.listing import commit_name
from floecat.connectors.delta.log.replay import DeltaLog, Version
from floecat.connectors.delta.log.storage import TableFiles
from floecat.connectors.delta.schema import DeltaSchema, read_schema
from floecat.connectors.delta.sources.port import TableLocation, TableSource
from floecat.connectors.revisions import revision_of
from floecat.connectors.spi.access import FileAccess
from floecat.connectors.spi.capabilities import Capabilities
from floecat.connectors.spi.columns import ColumnScope, SourceColumn
from floecat.connectors.spi.connector import FloecatConnector
from floecat.connectors.spi.emitter import StatsProtoEmitter
from floecat.connectors.spi.errors import (
    BrokenTableError,
    PermanentUpstreamError,
    UpstreamGoneError,
)
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

PRODUCER: Final = "delta-log"
_TOLD: Final = ("operation", "engineInfo", "isBlindAppend", "userMetadata", "txnId")


class DeltaConnector(FloecatConnector):
    """Tables from a source. A snapshot is a version."""

    format = ConnectorFormat.CF_DELTA

    def __init__(
        self,
        identity: str,
        source: TableSource,
        capabilities: Capabilities,
        timestamps: TimestampPolicy,
    ) -> None:
        self._id = identity
        self._source = source
        self._capabilities = capabilities
        self._timestamps = timestamps

    @property
    def id(self) -> str:
        return self._id

    @property
    def capabilities(self) -> Capabilities:
        return self._capabilities

    def list_namespaces(self) -> Iterable[Namespace]:
        return self._source.list_namespaces()

    def list_tables(self, namespace: Namespace) -> Iterable[str]:
        return self._source.list_tables(namespace)

    def list_views(self, namespace: Namespace) -> Iterable[str]:
        return self._source.list_views(namespace)

    def describe_view(self, namespace: Namespace, name: str) -> ViewDescriptor:
        return self._source.describe_view(namespace, name)

    def describe(self, namespace: Namespace, name: str) -> TableDescriptor:
        located = self._source.locate(namespace, name)
        log = _log(located)
        version = log.version(log.listing.latest)
        schema = read_schema(version.metadata, located.root)
        metadata = version.metadata
        return TableDescriptor(
            namespace=namespace,
            name=name,
            location=log.files.root,
            schema_json=metadata.schema_json,
            columns=schema.sources,
            partition_keys=metadata.partition_columns,
            partition_specs=(_partition_spec(schema),),
            current_snapshot_id=version.number,
            description=metadata.description or located.description,
            properties={**located.properties, **metadata.configuration, **_facts(version)},
        )

    def table_revisions(self, namespace: Namespace, names: Collection[str]) -> Mapping[str, str]:
        """From the listings of the logs; no file is read."""
        found: dict[str, str] = {}
        for name in names:
            with suppress(BrokenTableError, PermanentUpstreamError, UpstreamGoneError):
                found[name] = _revision(self._source.locate(namespace, name))
        return found

    def enumerate_snapshots(
        self, namespace: Namespace, name: str, options: SnapshotEnumerationOptions
    ) -> Iterator[SnapshotBundle]:
        log = _log(self._source.locate(namespace, name))
        told = log.listing.versions()
        wanted = frozenset(number for number in told if options.wants(number))
        present = frozenset(told)
        for version in log.versions(wanted):
            yield _bundle(version, log.files.root, present)

    def plan_snapshot_files(
        self, namespace: Namespace, name: str, snapshot_id: int, columns: ColumnScope | None = None
    ) -> ScanBundle:
        log = _log(self._source.locate(namespace, name))
        version = log.version(snapshot_id)
        schema = read_schema(version.metadata, log.files.root)
        return plan(log, version, schema, columns, self._timestamps)

    def snapshot_columns(
        self, namespace: Namespace, name: str, snapshot_id: int
    ) -> tuple[SourceColumn, ...]:
        log = _log(self._source.locate(namespace, name))
        return read_schema(log.version(snapshot_id).metadata, log.files.root).sources

    def capture_snapshot_target_stats(
        self, namespace: Namespace, name: str, snapshot_id: int, columns: ColumnScope
    ) -> Iterator[TargetStatsRecord]:
        bundle = self.plan_snapshot_files(namespace, name, snapshot_id, columns)
        emitter = StatsProtoEmitter(PRODUCER, snapshot_id, _timestamp(utc_now()))
        return GenericStatsEngine(emitter).capture(bundle, columns.selected(bundle.columns))

    def file_access(self, namespace: Namespace, name: str) -> FileAccess:
        return self._source.locate(namespace, name).access

    def close(self) -> None:
        self._source.close()


def _log(located: TableLocation) -> DeltaLog:
    return DeltaLog(TableFiles(located.root, located.access))


def _revision(located: TableLocation) -> str:
    """Of every commit: old ones are cleaned up, and a table made anew has the same names again."""
    listing = _log(located).listing
    commits = [(n, file.size, file.modified_at) for n, file in sorted(listing.commits.items())]
    return revision_of(
        located.root, located.description, located.properties, commits, listing.versions()
    )


def _bundle(version: Version, root: str, present: frozenset[int]) -> SnapshotBundle:
    metadata, number = version.metadata, version.number
    schema = read_schema(metadata, root)
    return SnapshotBundle(
        snapshot_id=number,
        created_at=version.committed_at,
        schema_json=metadata.schema_json,
        columns=schema.sources,
        parent_id=number - 1 if number - 1 in present else None,
        manifest_list=f"{root}/{commit_name(number)}",
        summary=_summary(version.info),
        partition_spec_id=0,
        constraints=constraints(metadata, schema),
        metadata={
            "delta.protocol": _json(version.protocol.raw),
            "delta.metadata": _json(metadata.raw),
        },
        properties=dict(metadata.configuration),
    )


def _summary(info: CommitInfo) -> dict[str, str]:
    """What the writer says of the change, flat."""
    told = {key: _text(info.raw[key]) for key in _TOLD if info.raw.get(key) is not None}
    metrics = info.raw.get("operationMetrics")
    if isinstance(metrics, dict):
        told |= {key: _text(value) for key, value in metrics.items() if value is not None}
    return told


def _facts(version: Version) -> dict[str, str]:
    """What isn't configuration, but worth knowing."""
    protocol = version.protocol
    features = sorted(protocol.reader_features | protocol.writer_features)
    return {
        "delta.table.id": version.metadata.table_id,
        "delta.minReaderVersion": str(protocol.min_reader),
        "delta.minWriterVersion": str(protocol.min_writer),
        **({"delta.features": ",".join(features)} if features else {}),
    }


def _partition_spec(schema: DeltaSchema) -> PartitionSpec:
    return PartitionSpec(
        spec_id=0,
        fields=[
            PartitionField(
                field_id=number,
                source_field_id=column.source.source_id or 0,
                name=column.source.name,
                transform="identity",
            )
            for number, column in enumerate(schema.partitions, FIRST_PARTITION_FIELD)
        ],
    )


def _json(value: object) -> bytes:
    return json.dumps(value, sort_keys=True, default=str).encode()


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def _timestamp(moment: datetime) -> Timestamp:
    stamp = Timestamp()
    stamp.FromDatetime(moment)
    return stamp
