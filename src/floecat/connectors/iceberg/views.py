"""Iceberg views, from their metadata's JSON."""

from collections.abc import Iterator
from typing import Any

from ai.floedb.floecat.catalog.view_pb2 import ViewColumn, ViewSqlDefinition
from floecat.connectors.iceberg.documents import Document, find, get, objects, texts
from floecat.connectors.spi.records import Namespace, ViewDescriptor
from floecat.types.mapping.iceberg import from_iceberg
from floecat.types.messages import to_message


def describe_view(namespace: Namespace, name: str, document: Document) -> ViewDescriptor:
    """The view's current version."""
    version = _by_id(document, "versions", "version-id", get(document, "current-version-id", int))
    schema = _by_id(document, "schemas", "schema-id", get(version, "schema-id", int))
    properties = texts(document, "properties")
    default: list[Any] = find(version, "default-namespace", list) or []
    return ViewDescriptor(
        namespace=namespace,
        name=name,
        sql_definitions=tuple(_definitions(version)),
        output_columns=tuple(_columns(schema)),
        default_catalog=find(version, "default-catalog", str) or "",
        default_namespace=tuple(str(part) for part in default),
        description=properties.get("comment", ""),
        properties=properties | _identity(document, version),
    )


def _definitions(version: Document) -> Iterator[ViewSqlDefinition]:
    """One for each dialect; kinds other than SQL aren't for us."""
    seen: set[str] = set()
    for definition in objects(version, "representations"):
        if definition.get("type") == "sql":
            dialect = get(definition, "dialect", str).lower()
            if dialect not in seen:
                seen.add(dialect)
                yield ViewSqlDefinition(dialect=dialect, sql=get(definition, "sql", str))


def _columns(schema: Document) -> Iterator[ViewColumn]:
    for field in objects(schema, "fields"):
        name = get(field, "name", str)
        yield ViewColumn(
            name=name,
            type=to_message(from_iceberg(field["type"], name)),
            nullable=not field.get("required", False),
            comment=find(field, "doc", str) or "",
        )


def _identity(document: Document, version: Document) -> dict[str, str]:
    return {
        "iceberg.view-uuid": find(document, "view-uuid", str) or "",
        "iceberg.format-version": str(get(document, "format-version", int)),
        "iceberg.version-id": str(version["version-id"]),
        "iceberg.location": find(document, "location", str) or "",
    }


def _by_id(document: Document, key: str, id_key: str, wanted: int) -> Document:
    for part in objects(document, key):
        if part.get(id_key) == wanted:
            return part
    raise ValueError(f"{id_key} {wanted} isn't among the {key}")
