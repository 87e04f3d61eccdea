"""Iceberg's reference server, over the catalog that Iceberg's own JDBC catalog wrote."""

import shutil
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest
from pyiceberg.catalog.rest import RestCatalog
from tests.interop.iceberg_checks import IcebergServerChecks, NestedChecks, ViewChecks
from tests.interop.iceberg_lake import Lake, add_view, fill
from tests.support.connectors import open_connector
from tests.support.lakehouse import iceberg_root, iceberg_truth
from tests.support.servers.iceberg_rest import CATALOG, running_iceberg_rest
from tests.support.servers.starting import started

from floecat.connectors.testing import ConnectorConformance, Upstream

pytestmark = pytest.mark.interop("Iceberg's REST server (iceberg-rest)")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("rest")


@pytest.fixture(scope="module")
def server(folder: Path) -> Iterator[str]:
    database = folder / "catalog.db"
    shutil.copy(iceberg_root() / "catalog.db", database)
    _rename_catalog(database)
    yield from started(running_iceberg_rest(database, f"file:{folder}/warehouse"))


@pytest.fixture(scope="module")
def lake(server: str, folder: Path) -> Iterator[Lake]:
    catalog = RestCatalog("rest", uri=server)
    fill(catalog)
    add_view(catalog)
    yield Lake(catalog=catalog, open=lambda: open_connector("iceberg-rest", server, roots=[folder]))
    catalog.close()


class TestWritten(IcebergServerChecks, NestedChecks, ViewChecks):
    pass


class TestCommitted(ConnectorConformance):
    @pytest.fixture
    def upstream(self, server: str) -> Upstream:
        roots = [iceberg_root()]
        return Upstream(
            open=lambda: open_connector("iceberg-rest", server, roots=roots),
            namespace=("sales",),
            table="orders",
        )

    def test_everything_is_found(self, upstream: Upstream) -> None:
        truth = iceberg_truth()["jdbc"]
        with upstream.open() as connector:
            namespaces = [tuple(parts) for parts in truth["namespaces"]]
            assert set(namespaces) <= set(connector.list_namespaces())
            tables = {".".join([*ns, t]) for ns in namespaces for t in connector.list_tables(ns)}
            assert tables == set(truth["tables"])
            assert list(connector.list_views(("sales",))) == ["big_orders"]
            view = connector.describe_view(("sales",), "big_orders")
            assert view.properties["owner_team"] == "sales"
            for path, table in truth["tables"].items():
                *namespace, name = path.split(".")
                described = connector.describe(tuple(namespace), name)
                assert described.current_snapshot_id == table["current_snapshot_id"]


def _rename_catalog(database: Path) -> None:
    """The server knows its catalog by a name of its own."""
    connection = sqlite3.connect(database)
    for table in ("iceberg_tables", "iceberg_namespace_properties"):
        connection.execute(f"UPDATE {table} SET catalog_name = ?", [CATALOG])
    connection.commit()
    connection.close()
