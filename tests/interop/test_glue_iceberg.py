"""AWS's Glue and S3, as moto plays them; Iceberg tables written by pyiceberg."""

from collections.abc import Iterator

import pytest
from pyiceberg.catalog.glue import GlueCatalog
from tests.interop.iceberg_checks import IcebergServerChecks
from tests.interop.iceberg_lake import NAMESPACE, Lake, fill
from tests.support.connectors import aws_auth, open_configured
from tests.support.moto import Moto

from floecat.connectors.spi.config import ConnectorConfig

pytestmark = pytest.mark.interop("Glue, played by moto (iceberg-glue)")


@pytest.fixture(scope="module")
def lake(moto: Moto, bucket: str) -> Iterator[Lake]:
    keys = {"region": "us-east-1", "access-key-id": "testing", "secret-access-key": "testing"}
    properties = {f"client.{key}": value for key, value in keys.items()}
    properties |= {"glue.endpoint": moto.endpoint, "s3.endpoint": moto.endpoint}
    catalog = GlueCatalog("glue", **properties, warehouse=f"s3://{bucket}/warehouse")
    fill(catalog, {"location": f"s3://{bucket}/warehouse/{NAMESPACE}"})
    options = {"glue.endpoint": moto.endpoint, "s3.endpoint": moto.endpoint}
    config = ConnectorConfig(kind_name="iceberg-glue", uri="", options=options, auth=aws_auth())
    yield Lake(catalog=catalog, open=lambda: open_configured(config))
    catalog.close()
    catalog.glue.close()


class TestGlue(IcebergServerChecks):
    pass
