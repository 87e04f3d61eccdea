"""What connectors describe, as the contract writes it."""

from typing import Final

from ai.floedb.floecat.catalog.constraints_pb2 import TableConstraints
from ai.floedb.floecat.catalog.snapshot_pb2 import SnapshotSpec
from ai.floedb.floecat.catalog.table_pb2 import (
    TF_DELTA,
    TF_ICEBERG,
    TF_UNSPECIFIED,
    US_PRESENT,
    ColumnId,
    TableSpec,
    UpstreamRef,
)
from ai.floedb.floecat.catalog.view_pb2 import ViewSpec
from ai.floedb.floecat.connector.connector_pb2 import CF_DELTA, CF_ICEBERG
from ai.floedb.floecat.reconciler.executor_control_pb2 import LeasedConnector
from floecat.connectors.spi.columns import SourceColumn
from floecat.connectors.spi.connector import FloecatConnector
from floecat.connectors.spi.records import SnapshotBundle, TableDescriptor, ViewDescriptor

_FORMATS: Final = {CF_ICEBERG: TF_ICEBERG, CF_DELTA: TF_DELTA}

ATTACHMENT_BYTES: Final = 1024 * 1024
"""What attachments of one snapshot may have together; larger ones aren't worth a capture."""


def table_spec(
    leased: LeasedConnector, connector: FloecatConnector, table: TableDescriptor
) -> TableSpec:
    """A table as the upstream has it. Its name and place here are the control plane's to say."""
    table_format = _FORMATS.get(connector.format, TF_UNSPECIFIED)
    return TableSpec(
        description=table.description,
        schema_json=table.schema_json,
        upstream=UpstreamRef(
            connector_id=leased.connector_id,
            uri=leased.uri,
            namespace_path=table.namespace,
            table_display_name=table.name,
            format=table_format,
            partition_keys=table.partition_keys,
            state=US_PRESENT,
        ),
        format=table_format,
        location=table.location,
        partition_specs=table.partition_specs,
        default_partition_spec_id=table.default_partition_spec_id,
        sort_orders=table.sort_orders,
        default_sort_order_id=table.default_sort_order_id,
        references=table.references,
        current_snapshot_id=table.current_snapshot_id,
        properties=table.properties,
    )


def column_of(column: SourceColumn) -> ColumnId:
    """A leaf of the schema, with the format's own id where it has one."""
    return ColumnId(column_id=column.source_id or 0, path=column.path)


def snapshot_spec(bundle: SnapshotBundle) -> SnapshotSpec:
    """A snapshot, with those of its payloads that can be sent."""
    spec = SnapshotSpec(
        snapshot_id=bundle.snapshot_id,
        parent_snapshot_id=bundle.parent_id,
        sequence_number=bundle.sequence_number,
        manifest_list=bundle.manifest_list,
        summary=bundle.summary,
        schema_id=bundle.schema_id,
        schema_json=bundle.schema_json,
        partition_spec_id=bundle.partition_spec_id,
        attachments=_attachments(bundle),
        properties=bundle.properties,
    )
    spec.upstream_created_at.FromDatetime(bundle.created_at)
    return spec


def constraints_of(bundle: SnapshotBundle) -> list[TableConstraints]:
    """A snapshot's constraints, if it has any."""
    if not bundle.constraints:
        return []
    return [TableConstraints(snapshot_id=bundle.snapshot_id, constraints=bundle.constraints)]


def view_spec(leased: LeasedConnector, view: ViewDescriptor) -> ViewSpec:
    """A view as the upstream has it."""
    return ViewSpec(
        description=view.description,
        sql_definitions=view.sql_definitions,
        base_relations=view.base_relations,
        output_columns=view.output_columns,
        default_catalog=view.default_catalog,
        default_namespace=view.default_namespace,
        upstream=UpstreamRef(
            connector_id=leased.connector_id,
            uri=leased.uri,
            namespace_path=view.namespace,
            table_display_name=view.name,
            state=US_PRESENT,
        ),
        properties=view.properties,
    )


def _attachments(bundle: SnapshotBundle) -> dict[str, bytes]:
    """The payloads, small ones first, as many as fit."""
    left = ATTACHMENT_BYTES
    kept: dict[str, bytes] = {}
    for name, data in sorted(bundle.metadata.items(), key=lambda item: len(item[1])):
        left -= len(data)
        if left < 0:
            break
        kept[name] = data
    return kept
