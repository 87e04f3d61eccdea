"""A table as it is now, from its metadata."""

from ai.floedb.floecat.catalog import table_pb2 as messages
from floecat.connectors.iceberg.documents import Document, find, get, objects
from floecat.connectors.iceberg.metadata import PartitionSpec, TableMetadata
from floecat.connectors.iceberg.schema import columns_of
from floecat.connectors.iceberg.snapshots import schema_json
from floecat.connectors.spi.records import Namespace, TableDescriptor


def describe_table(
    namespace: Namespace, name: str, metadata: TableMetadata, catalog_properties: dict[str, str]
) -> TableDescriptor:
    """What the catalog says of a table lies below what the table says itself."""
    default = metadata.specs[metadata.default_spec_id]
    return TableDescriptor(
        namespace=namespace,
        name=name,
        location=metadata.location,
        schema_json=schema_json(metadata.schema),
        columns=columns_of(metadata.schema),
        partition_keys=tuple(f.name for f in default.fields if f.transform != "void"),
        partition_specs=tuple(_spec(spec) for spec in metadata.specs.values()),
        default_partition_spec_id=metadata.default_spec_id,
        sort_orders=tuple(_sort_order(order) for order in metadata.sort_orders),
        default_sort_order_id=metadata.default_sort_order_id,
        references=tuple(_reference(name, ref) for name, ref in metadata.refs.items()),
        current_snapshot_id=metadata.current_snapshot_id,
        description=metadata.properties.get("comment", ""),
        properties={**catalog_properties, **metadata.properties, **_identity(metadata)},
    )


def _identity(metadata: TableMetadata) -> dict[str, str]:
    return {
        "iceberg.format-version": str(metadata.format_version),
        "iceberg.table-uuid": metadata.uuid,
        "iceberg.metadata-location": metadata.metadata_location,
        "iceberg.last-sequence-number": str(metadata.last_sequence_number),
        "iceberg.current-schema-id": str(metadata.current_schema_id),
        "iceberg.schema-ids": ",".join(str(schema_id) for schema_id in metadata.schemas),
    }


def _spec(spec: PartitionSpec) -> messages.PartitionSpec:
    fields = [
        messages.PartitionField(
            field_id=field.field_id,
            source_field_id=field.source_id,
            name=field.name,
            transform=field.transform,
        )
        for field in spec.fields
    ]
    return messages.PartitionSpec(spec_id=spec.spec_id, fields=fields)


def _sort_order(document: Document) -> messages.SortOrder:
    fields = [
        messages.SortField(
            source_field_id=get(field, "source-id", int),
            transform=get(field, "transform", str),
            descending=field.get("direction") == "desc",
            nulls_last=field.get("null-order") == "nulls-last",
        )
        for field in objects(document, "fields")
    ]
    return messages.SortOrder(order_id=get(document, "order-id", int), fields=fields)


def _reference(name: str, document: Document) -> messages.SnapshotReference:
    kinds = messages.SnapshotReferenceKind
    is_tag = find(document, "type", str) == "tag"
    return messages.SnapshotReference(
        name=name,
        kind=kinds.SRK_TAG if is_tag else kinds.SRK_BRANCH,
        snapshot_id=get(document, "snapshot-id", int),
    )
