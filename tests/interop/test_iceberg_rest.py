"""Iceberg's own REST server, over the catalog that Iceberg's JDBC catalog wrote."""

import shutil
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.support.iceberg_rest import missing_programs, running_iceberg_rest
from tests.support.lakehouse import iceberg_root, iceberg_truth

from floecat.connectors.auth.providers import NoAuthProvider
from floecat.connectors.iceberg.factory import REST
from floecat.connectors.spi.config import ConnectorConfig
from floecat.connectors.spi.factory import ConnectorEnvironment
from floecat.connectors.testing import ConnectorConformance, Upstream
from floecat.security.guard import OutboundGuard, OutboundRules

SERVERS_NAME = "rest_backend"

pytestmark = [
    pytest.mark.interop,
    pytest.mark.skipif(bool(missing_programs()), reason=f"no {', '.join(missing_programs())}"),
]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    database = tmp_path_factory.mktemp("rest") / "catalog.db"
    shutil.copy(iceberg_root() / "catalog.db", database)
    _rename_catalog(database)
    with running_iceberg_rest(database, f"file:{iceberg_root()}/jdbc") as uri:
        yield uri


class TestIcebergsServer(ConnectorConformance):
    @pytest.fixture
    def upstream(self, server: str) -> Upstream:
        rules = OutboundRules(private_addresses=True, file_roots=(iceberg_root(),))
        environment = ConnectorEnvironment(auth=NoAuthProvider(), guard=OutboundGuard(rules))
        config = ConnectorConfig(kind_name=REST.kind_name, uri=server)
        return Upstream(
            open=lambda: REST.create(config, environment), namespace=("sales",), table="orders"
        )

    def test_everything_is_found(self, upstream: Upstream) -> None:
        truth = iceberg_truth()["jdbc"]
        with upstream.open() as connector:
            namespaces = list(connector.list_namespaces())
            assert namespaces == [tuple(parts) for parts in truth["namespaces"]]
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
        connection.execute(f"UPDATE {table} SET catalog_name = ?", [SERVERS_NAME])
    connection.commit()
    connection.close()
