"""A Hive metastore, its tables written by pyiceberg."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from pyiceberg.catalog.hive import HiveCatalog
from tests.interop.iceberg_checks import IcebergServerChecks
from tests.interop.iceberg_lake import Lake, fill
from tests.support.connectors import open_connector
from tests.support.servers.hive import running_hive
from tests.support.servers.starting import started

pytestmark = pytest.mark.interop("Hive metastore (iceberg-hive)")


@pytest.fixture(scope="module")
def warehouse(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("hive")


@pytest.fixture(scope="module")
def server(warehouse: Path) -> Iterator[str]:
    yield from started(running_hive(warehouse))


@pytest.fixture(scope="module")
def lake(server: str, warehouse: Path) -> Lake:
    settings = {"hive.hive2-compatible": "true"}  # which is the version that Spark has
    catalog = HiveCatalog("hive", uri=server, warehouse=f"file://{warehouse}", **settings)
    fill(catalog, {"location": f"file://{warehouse}/written"})
    return Lake(
        catalog=catalog, open=lambda: open_connector("iceberg-hive", server, roots=[warehouse])
    )


class TestHive(IcebergServerChecks):
    pass
