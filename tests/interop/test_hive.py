"""A Hive metastore: tables that pyiceberg writes, and one that Spark wrote."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from pyiceberg.catalog.hive import HiveCatalog
from tests.interop.iceberg_checks import IcebergServerChecks
from tests.interop.iceberg_lake import Lake, fill
from tests.support.connectors import open_connector
from tests.support.lakehouse import iceberg_root
from tests.support.servers.hive import running_hive
from tests.support.servers.starting import started

from floecat.connectors.testing import ConnectorConformance, Upstream

pytestmark = pytest.mark.interop("Hive metastore (iceberg-hive)")


@pytest.fixture(scope="module")
def warehouse(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("hive")


@pytest.fixture(scope="module")
def server(warehouse: Path) -> Iterator[str]:
    yield from started(running_hive(warehouse))


@pytest.fixture(scope="module")
def catalog(server: str, warehouse: Path) -> HiveCatalog:
    settings = {"hive.hive2-compatible": "true"}  # which is the version that Spark has
    return HiveCatalog("hive", uri=server, warehouse=f"file://{warehouse}", **settings)


@pytest.fixture(scope="module")
def lake(catalog: HiveCatalog, server: str, warehouse: Path) -> Lake:
    fill(catalog, {"location": f"file://{warehouse}/written"})
    return Lake(
        catalog=catalog, open=lambda: open_connector("iceberg-hive", server, roots=[warehouse])
    )


class TestWritten(IcebergServerChecks):
    def test_an_empty_database_has_no_tables(self, lake: Lake) -> None:
        with lake.open() as connector:
            assert ("default",) in set(connector.list_namespaces())
            assert list(connector.list_tables(("default",))) == []


@pytest.fixture(scope="module")
def registered(catalog: HiveCatalog) -> None:
    metadata = iceberg_root() / "warehouse" / "deletes" / "vectors" / "metadata"
    newest = max(metadata.glob("v*.json"), key=lambda path: int(path.name[1:].partition(".")[0]))
    catalog.create_namespace("sales")
    catalog.register_table("sales.orders", f"file:{newest}")


class TestCommitted(ConnectorConformance):
    @pytest.fixture
    def upstream(self, server: str, registered: None) -> Upstream:
        roots = [iceberg_root()]
        return Upstream(
            open=lambda: open_connector("iceberg-hive", server, roots=roots),
            namespace=("sales",),
            table="orders",
        )
