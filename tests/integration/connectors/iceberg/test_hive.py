"""A Hive metastore from Spark's own jars, with tables that Spark wrote."""

from collections.abc import Iterator

import pytest
from pyiceberg.catalog.hive import HiveCatalog
from tests.support.hive_metastore import missing_programs, running_hive_metastore
from tests.support.lakehouse import iceberg_root

from floecat.connectors.auth.providers import NoAuthProvider
from floecat.connectors.iceberg.factory import HIVE
from floecat.connectors.spi.config import ConnectorConfig
from floecat.connectors.spi.connector import FloecatConnector
from floecat.connectors.spi.errors import TransientUpstreamError
from floecat.connectors.spi.factory import ConnectorEnvironment
from floecat.connectors.testing import ConnectorConformance, Upstream
from floecat.security.guard import OutboundGuard, OutboundRules

pytestmark = [
    pytest.mark.interop,
    pytest.mark.skipif(bool(missing_programs()), reason=f"no {', '.join(missing_programs())}"),
]


def connect(uri: str) -> FloecatConnector:
    rules = OutboundRules(private_addresses=True, file_roots=(iceberg_root(),))
    environment = ConnectorEnvironment(auth=NoAuthProvider(), guard=OutboundGuard(rules))
    return HIVE.create(ConnectorConfig(kind_name=HIVE.kind_name, uri=uri), environment)


@pytest.fixture(scope="module")
def metastore(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("hive")
    with running_hive_metastore(folder) as uri:
        catalog = HiveCatalog("hive", uri=uri, warehouse=f"file://{folder}/warehouse")
        catalog.create_namespace("sales")
        table = iceberg_root() / "warehouse" / "deletes" / "vectors" / "metadata"
        newest = max(table.glob("v*.json"), key=lambda path: int(path.name[1:].partition(".")[0]))
        catalog.register_table("sales.orders", f"file:{newest}")
        yield uri


class TestHive(ConnectorConformance):
    @pytest.fixture
    def upstream(self, metastore: str) -> Upstream:
        return Upstream(open=lambda: connect(metastore), namespace=("sales",), table="orders")

    def test_databases_are_namespaces(self, metastore: str) -> None:
        with connect(metastore) as connector:
            assert set(connector.list_namespaces()) == {("default",), ("sales",)}
            assert list(connector.list_tables(("default",))) == []


def test_a_metastore_that_isnt_there_may_come_back() -> None:
    with connect("thrift://127.0.0.1:1") as connector, pytest.raises(TransientUpstreamError):
        list(connector.list_namespaces())
