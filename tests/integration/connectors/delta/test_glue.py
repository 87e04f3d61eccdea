"""Delta tables through AWS Glue, as moto plays it."""

from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import boto3
import pytest
from tests.contracts.test_connector_delta import make_table
from tests.support.connectors import aws_auth, open_configured
from tests.support.moto import Moto

from floecat.connectors.spi.config import ConnectorConfig, ResolvedAuth
from floecat.connectors.spi.connector import FloecatConnector
from floecat.connectors.spi.errors import ConnectorError, UpstreamProblem
from floecat.connectors.testing import ConnectorConformance, Upstream

pytestmark = pytest.mark.slow


@pytest.fixture
def database(moto: Moto, aws_environment: None, tmp_path: Path) -> Iterator[str]:
    make_table(tmp_path / "orders")
    client = boto3.client("glue", endpoint_url=moto.endpoint, region_name="us-east-1")
    name = f"db{uuid4().hex}"
    client.create_database(DatabaseInput={"Name": name})
    location = f"file://{tmp_path}/orders"
    for table, parameters in (
        ("orders", {"spark.sql.sources.provider": "delta", "owner": "ada"}),
        ("crawled", {"table_type": "delta"}),
        ("csv", {"classification": "csv"}),
    ):
        client.create_table(
            DatabaseName=name,
            TableInput={
                "Name": table,
                "Description": "what was ordered",
                "Parameters": parameters,
                "StorageDescriptor": {"Location": location},
            },
        )
    yield name
    client.close()


def connect(moto: Moto, root: Path, auth: ResolvedAuth | None = None) -> FloecatConnector:
    config = ConnectorConfig(
        kind_name="delta-glue",
        uri="",
        options={"glue.endpoint": moto.endpoint, "glue.region": "us-east-1"},
        auth=auth or aws_auth(),
    )
    return open_configured(config, [root])


class TestGlue(ConnectorConformance):
    @pytest.fixture
    def upstream(self, moto: Moto, database: str, tmp_path: Path) -> Upstream:
        return Upstream(open=lambda: connect(moto, tmp_path), namespace=(database,), table="orders")


def test_only_delta_tables_are_listed(moto: Moto, database: str, tmp_path: Path) -> None:
    with connect(moto, tmp_path) as connector:
        assert sorted(connector.list_tables((database,))) == ["crawled", "orders"]
        table = connector.describe((database,), "orders")
        assert table.properties["owner"] == "ada"
        assert table.description == "what was ordered"


def test_the_servers_own_identity_isnt_used(moto: Moto, database: str, tmp_path: Path) -> None:
    with pytest.raises(ConnectorError, match=r"aws\.default-chain") as failed:
        connect(moto, tmp_path, ResolvedAuth())
    assert failed.value.problem is UpstreamProblem.UNAUTHENTICATED
