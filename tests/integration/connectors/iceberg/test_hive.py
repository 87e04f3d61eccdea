"""A Hive metastore that can't be reached; those that can are in tests/interop."""

import pytest
from tests.support.connectors import open_connector

from floecat.connectors.spi.errors import TransientUpstreamError


def test_a_metastore_that_isnt_there_may_come_back(unused_port: int) -> None:
    uri = f"thrift://127.0.0.1:{unused_port}"
    with (
        open_connector("iceberg-hive", uri) as connector,
        pytest.raises(TransientUpstreamError),
    ):
        list(connector.list_namespaces())
