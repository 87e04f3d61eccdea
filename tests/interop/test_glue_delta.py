"""AWS's Glue and S3, as moto plays them; a delta table written by deltalake."""

import boto3
import pytest
from tests.interop.delta_checks import TABLE, DeltaLake, DeltaServerChecks, write_table
from tests.support.connectors import aws_auth, open_configured
from tests.support.moto import Moto

from floecat.connectors.spi.config import ConnectorConfig

pytestmark = pytest.mark.interop("Glue, played by moto (delta-glue)")

DATABASE = "deltas"
REGION = "us-east-1"


@pytest.fixture(scope="module")
def lake(moto: Moto, bucket: str) -> DeltaLake:
    location = f"s3://{bucket}/{TABLE}"
    storage = {
        "aws_endpoint": moto.endpoint,
        "aws_region": REGION,
        "aws_access_key_id": "testing",
        "aws_secret_access_key": "testing",
        "aws_allow_http": "true",
        "aws_conditional_put": "etag",
    }
    write_table(location, storage)
    _register(moto.endpoint, location)
    options = {"glue.endpoint": moto.endpoint, "s3.endpoint": moto.endpoint}
    config = ConnectorConfig(kind_name="delta-glue", uri="", options=options, auth=aws_auth())
    return DeltaLake(
        open=lambda: open_configured(config),
        namespace=(DATABASE,),
        location=location,
        storage=storage,
    )


class TestGlue(DeltaServerChecks):
    pass


def _register(endpoint: str, location: str) -> None:
    client = boto3.client("glue", endpoint_url=endpoint, region_name=REGION)
    client.create_database(DatabaseInput={"Name": DATABASE})
    table = {
        "Name": TABLE,
        "Parameters": {"spark.sql.sources.provider": "delta"},
        "StorageDescriptor": {"Location": location},
    }
    client.create_table(DatabaseName=DATABASE, TableInput=table)
    client.close()
