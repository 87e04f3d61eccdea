"""Iceberg connectors do what every connector must, on tables that other engines wrote."""

import pytest
from tests.support.iceberg import open_at, open_jdbc, open_warehouse
from tests.support.lakehouse import iceberg_root, iceberg_truth

from floecat.connectors.iceberg.factory import FILESYSTEM
from floecat.connectors.testing import ConnectorConformance, Upstream


class TestWarehouseFolder(ConnectorConformance):
    @pytest.fixture
    def upstream(self) -> Upstream:
        return Upstream(open=open_warehouse, namespace=("deletes",), table="vectors")


class TestDeepNamespace(ConnectorConformance):
    @pytest.fixture
    def upstream(self) -> Upstream:
        namespace = ("deep", "deeper", "deepest")
        return Upstream(open=open_warehouse, namespace=namespace, table="bottom")


class TestTableFolder(ConnectorConformance):
    @pytest.fixture
    def upstream(self) -> Upstream:
        root = iceberg_root()
        return Upstream(
            open=lambda: open_at(FILESYSTEM, f"{root}/warehouse/evolution/schema", root),
            namespace=("default",),
            table="schema",
        )


class TestMetadataFile(ConnectorConformance):
    """Named in a way of its own, and not the newest: what is asked for is what is shown."""

    @pytest.fixture
    def upstream(self) -> Upstream:
        root = iceberg_root()
        uri = f"file://{root}/warehouse/types/primitives/metadata/v3.metadata.json"
        options = {"namespace": "mine.own", "table": "older"}
        return Upstream(
            open=lambda: open_at(FILESYSTEM, uri, root, options),
            namespace=("mine", "own"),
            table="older",
        )


class TestSqlCatalog(ConnectorConformance):
    @pytest.fixture
    def upstream(self) -> Upstream:
        assert iceberg_truth()["jdbc"]["views"], "the views' part has something to test"
        return Upstream(open=open_jdbc, namespace=("sales",), table="orders")
