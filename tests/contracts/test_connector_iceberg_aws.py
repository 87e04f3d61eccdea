"""Iceberg in Glue and in S3, as moto plays them, written by pyiceberg."""

from collections.abc import Iterator

import boto3
import pyarrow as pa
import pytest
from pyiceberg.catalog.glue import GlueCatalog
from tests.support.moto import running_moto

from floecat.connectors.auth.providers import AwsSigV4AuthProvider
from floecat.connectors.iceberg.factory import FILESYSTEM, GLUE, IcebergFactory
from floecat.connectors.spi.config import ConnectorConfig, ResolvedAuth
from floecat.connectors.spi.connector import FloecatConnector
from floecat.connectors.spi.errors import UpstreamGoneError
from floecat.connectors.spi.factory import ConnectorEnvironment
from floecat.connectors.testing import ConnectorConformance, Upstream
from floecat.security.guard import OutboundGuard, OutboundRules
from floecat.security.secret import Secret

pytestmark = pytest.mark.slow

REGION = "eu-north-1"
BUCKET = "lake"
KEYS = {"access_key_id": Secret("testing"), "secret_access_key": Secret("testing")}


@pytest.fixture(scope="module")
def endpoint() -> Iterator[str]:
    with running_moto() as moto:
        client = boto3.client(
            "s3",
            endpoint_url=moto.endpoint,
            region_name=REGION,
            aws_access_key_id="testing",
            aws_secret_access_key="testing",
        )
        client.create_bucket(
            Bucket=BUCKET, CreateBucketConfiguration={"LocationConstraint": REGION}
        )
        client.close()
        _write(moto.endpoint)
        yield moto.endpoint


def _write(endpoint: str) -> None:
    keys = {"access-key-id": "testing", "secret-access-key": "testing", "region": REGION}
    properties = {f"{part}.{key}": value for part in ("glue", "s3") for key, value in keys.items()}
    properties |= {"glue.endpoint": endpoint, "s3.endpoint": endpoint}
    catalog = GlueCatalog("glue", **properties, warehouse=f"s3://{BUCKET}/warehouse")
    catalog.create_namespace("sales", {"location": f"s3://{BUCKET}/warehouse/sales"})
    rows = pa.table({"id": pa.array([1, 2, 3]), "name": ["a", None, "c"]})
    table = catalog.create_table("sales.orders", rows.schema)
    table.append(rows)
    table.append(rows.slice(1))
    other = {"Name": "hive_table", "Parameters": {}, "StorageDescriptor": {"Columns": []}}
    catalog.glue.create_table(DatabaseName="sales", TableInput=other)


def _open(factory: IcebergFactory, uri: str, endpoint: str) -> FloecatConnector:
    auth = ResolvedAuth(scheme="aws-sigv4", secrets=KEYS, options={"region": REGION})
    guard = OutboundGuard(OutboundRules(private_addresses=True))
    environment = ConnectorEnvironment(auth=AwsSigV4AuthProvider(auth), guard=guard)
    options = {"s3.endpoint": endpoint}
    if factory is GLUE:
        options |= {"glue.endpoint": endpoint}
    config = ConnectorConfig(kind_name=factory.kind_name, uri=uri, options=options, auth=auth)
    return factory.create(config, environment)


class TestGlue(ConnectorConformance):
    @pytest.fixture
    def upstream(self, endpoint: str) -> Upstream:
        return Upstream(
            open=lambda: _open(GLUE, "", endpoint), namespace=("sales",), table="orders"
        )

    def test_tables_of_other_formats_arent_shown(self, upstream: Upstream) -> None:
        with upstream.open() as connector:
            assert list(connector.list_tables(("sales",))) == ["orders"]
            with pytest.raises(UpstreamGoneError):
                connector.describe(("sales",), "hive_table")


class TestFoldersInS3(ConnectorConformance):
    @pytest.fixture
    def upstream(self, endpoint: str) -> Upstream:
        uri = f"s3://{BUCKET}/warehouse"
        return Upstream(
            open=lambda: _open(FILESYSTEM, uri, endpoint), namespace=("sales",), table="orders"
        )
