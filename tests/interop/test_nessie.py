"""Nessie's Iceberg endpoint, its warehouse in S3 as moto plays it."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from pyiceberg.catalog.rest import RestCatalog
from pyiceberg.schema import Schema
from requests import PreparedRequest, Response
from requests.adapters import HTTPAdapter
from tests.interop.iceberg_checks import IcebergServerChecks, NestedChecks, ViewChecks
from tests.interop.iceberg_lake import NAMESPACE, ORDERS, Lake, add_view, fill
from tests.support.connectors import open_configured
from tests.support.moto import Moto
from tests.support.servers.nessie import WAREHOUSE, running_nessie
from tests.support.servers.starting import started
from typing_extensions import override

from floecat.connectors.spi.config import ConnectorConfig

pytestmark = pytest.mark.interop("Nessie (iceberg-rest)")


@pytest.fixture(scope="module")
def server(moto: Moto, bucket: str) -> Iterator[str]:
    yield from started(running_nessie(moto.endpoint, f"s3://{bucket}/warehouse"))


@pytest.fixture(scope="module")
def lake(server: str) -> Iterator[Lake]:
    catalog = RestCatalog("nessie", uri=server, warehouse=WAREHOUSE)
    catalog._session.mount("http://", _LastColumnIds())
    fill(catalog)
    add_view(catalog)
    config = ConnectorConfig(kind_name="iceberg-rest", uri=server, options={"warehouse": WAREHOUSE})
    yield Lake(catalog=catalog, open=lambda: open_configured(config))
    catalog.close()


class TestNessie(IcebergServerChecks, NestedChecks, ViewChecks):
    keeps_history = False  # its history is that of the whole catalog, in its own commits

    def test_files_are_read_with_keys_that_nessie_lends(self, lake: Lake) -> None:
        with lake.open() as connector:
            access = connector.file_access((NAMESPACE,), ORDERS)
        assert access.access_key_id is not None
        assert access.session_token is not None
        assert access.endpoint == lake.table(ORDERS).io.properties["s3.endpoint"]


class _LastColumnIds(HTTPAdapter):
    """Says the last column's id with a schema: Nessie insists, pyiceberg no longer does it."""

    @override
    def send(self, request: PreparedRequest, *arguments: Any, **more: Any) -> Response:
        if isinstance(request.body, bytes) and b"add-schema" in request.body:
            document = json.loads(request.body)
            for update in document["updates"]:
                if update["action"] == "add-schema":
                    schema = Schema.model_validate(update["schema"])
                    update["last-column-id"] = schema.highest_field_id
            request.prepare_body(json.dumps(document).encode(), None)
        return super().send(request, *arguments, **more)
