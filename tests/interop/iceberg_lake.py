"""The tables that pyiceberg puts into a running catalog, for our connectors to find there."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import pyarrow as pa
from pyiceberg.catalog import Catalog
from pyiceberg.partitioning import PartitionField, PartitionSpec
from pyiceberg.schema import Schema
from pyiceberg.table import Table
from pyiceberg.transforms import IdentityTransform
from pyiceberg.types import (
    DecimalType,
    ListType,
    LongType,
    NestedField,
    StringType,
    StructType,
    TimestamptzType,
)
from pyiceberg.view.metadata import ViewVersion
from tests.support.iceberg_deletes import delete_positions

from floecat.connectors.spi.connector import FloecatConnector

NAMESPACE: Final = "written"
ORDERS: Final = "orders"
DELETED: Final = "deleted"
EMPTY: Final = "empty"
VIEW: Final = "big_orders"
VIEW_SQL: Final = "SELECT id FROM orders WHERE amount > 1500"

_SCHEMA: Final = Schema(
    NestedField(1, "id", LongType(), required=True, doc="of the order"),
    NestedField(2, "name", StringType()),
    NestedField(3, "country", StringType()),
    NestedField(4, "amount", DecimalType(9, 2)),
    NestedField(5, "at", TimestamptzType()),
    NestedField(
        6,
        "place",
        StructType(
            NestedField(7, "city", StringType()),
            NestedField(8, "tags", ListType(9, StringType(), element_required=False)),
        ),
    ),
    identifier_field_ids=[1],
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Lake:
    """A running catalog: pyiceberg's way in, and ours."""

    catalog: Catalog
    open: Callable[[], FloecatConnector]

    def table(self, name: str) -> Table:
        """The table as pyiceberg reads it: what ours is compared with."""
        return self.catalog.load_table((NAMESPACE, name))


def fill(catalog: Catalog, properties: dict[str, str] | None = None) -> None:
    """Tables with several snapshots, with position deletes, and without any snapshot."""
    catalog.create_namespace((NAMESPACE,), properties or {})
    _write_orders(catalog)
    _write_deleted(catalog)
    catalog.create_table((NAMESPACE, EMPTY), _SCHEMA)


def add_view(catalog: Catalog) -> None:
    version = ViewVersion.model_validate(
        {
            "schema-id": 0,
            "representations": [{"type": "sql", "sql": VIEW_SQL, "dialect": "spark"}],
            "default-namespace": [NAMESPACE],
        }
    )
    columns = Schema(NestedField(1, "id", LongType(), required=True))
    catalog.create_view((NAMESPACE, VIEW), columns, version, properties={"owner_team": "sales"})


def _write_orders(catalog: Catalog) -> None:
    """Partitioned, appended to, deleted from, evolved, tagged."""
    spec = PartitionSpec(PartitionField(3, 1000, IdentityTransform(), "country"))
    table = catalog.create_table(
        (NAMESPACE, ORDERS), _SCHEMA, partition_spec=spec, properties={"owner_team": "sales"}
    )
    for number in range(3):
        table.append(rows(number * 4, table))
    table.delete("id = 5")
    with table.manage_snapshots() as manage:
        manage.create_tag(table.metadata.snapshots[0].snapshot_id, "first")
    with table.update_schema() as update:
        update.rename_column("name", "full_name")
        update.add_column("note", StringType())
    table.append(rows(100, table))


def _write_deleted(catalog: Catalog) -> None:
    table = catalog.create_table((NAMESPACE, DELETED), _SCHEMA, properties={"format-version": "2"})
    table.append(rows(0, table))
    table.append(rows(4, table))
    for task in list(table.scan().plan_files())[:1]:
        delete_positions(table, task.file.file_path, task.file.partition, [0, 2])


def rows(first: int, table: Table) -> pa.Table:
    """Four rows, in whatever shape the table has now."""
    schema = table.schema().as_arrow()
    ids = range(first, first + 4)
    values = {
        "id": list(ids),
        "name": [None if i % 4 == 3 else f"name {i}" for i in ids],
        "country": ["ee" if i % 2 else "fi" for i in ids],
        "amount": [f"{i}.50" for i in ids],
        "at": [i * 1_000_000 for i in ids],
        "place": [{"city": "Tartu", "tags": ["a", None]}, None] * 2,
    }
    values["full_name"] = values["name"]
    values["amount"] = pa.array(values["amount"]).cast(pa.decimal128(9, 2))
    arrays = [
        pa.nulls(4, field.type)
        if field.name not in values
        else pa.array(values[field.name], field.type)
        for field in schema
    ]
    return pa.Table.from_arrays(arrays, schema=schema)
