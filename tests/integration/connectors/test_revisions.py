"""Revisions change when their table does, and no neighbour's does."""

from collections.abc import Callable
from pathlib import Path

import deltalake
import pyarrow as pa
import pytest
from pyiceberg.catalog.sql import SqlCatalog
from tests.support.connectors import open_connector

ROWS = pa.table({"id": [1, 2, 3]})
Change = Callable[[], object]


def iceberg(folder: Path) -> tuple[str, str, Change]:
    catalog = SqlCatalog(
        "lake", uri=f"sqlite:///{folder}/catalog.db", warehouse=f"file://{folder}/warehouse"
    )
    catalog.create_namespace("sales")
    for name in ("orders", "items"):
        catalog.create_table(f"sales.{name}", ROWS.schema)
    return (
        "iceberg-sql",
        f"sqlite:///{folder}/catalog.db",
        lambda: catalog.load_table("sales.orders").append(ROWS),
    )


def iceberg_folder(folder: Path) -> tuple[str, str, Change]:
    _, _, change = iceberg(folder)
    return "iceberg-filesystem", f"file://{folder}/warehouse", change


def delta(folder: Path) -> tuple[str, str, Change]:
    for name in ("orders", "items"):
        deltalake.write_deltalake(f"{folder}/sales/{name}", ROWS)
    path = f"{folder}/sales/orders"
    return (
        "delta-filesystem",
        f"file://{folder}",
        lambda: deltalake.write_deltalake(path, ROWS, mode="append"),
    )


@pytest.mark.parametrize("make", [iceberg, iceberg_folder, delta])
def test_a_revision_changes_with_its_table_alone(
    tmp_path: Path, make: Callable[[Path], tuple[str, str, Change]]
) -> None:
    kind, uri, change = make(tmp_path)
    with open_connector(kind, uri, roots=[tmp_path]) as connector:
        names = set(connector.list_tables(("sales",)))
        before = connector.table_revisions(("sales",), names)
        assert set(before) == {"orders", "items"}
        change()
        after = connector.table_revisions(("sales",), names)
        assert after["orders"] != before["orders"]
        assert after["items"] == before["items"]
        assert connector.table_revisions(("sales",), {"items"}) == {"items": after["items"]}


def test_a_table_made_anew_has_another_revision(tmp_path: Path) -> None:
    kind, uri, _ = delta(tmp_path)
    with open_connector(kind, uri, roots=[tmp_path]) as connector:
        before = connector.table_revision(("sales",), "orders")
        for file in (tmp_path / "sales/orders/_delta_log").iterdir():
            file.unlink()
        deltalake.write_deltalake(f"{tmp_path}/sales/orders", ROWS)
        assert connector.table_revision(("sales",), "orders") != before
