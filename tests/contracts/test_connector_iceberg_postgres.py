"""An Iceberg SQL catalog in PostgreSQL, written by pyiceberg."""

from collections.abc import Iterator
from ipaddress import ip_address
from pathlib import Path

import pyarrow as pa
import pytest
from pyiceberg.catalog.sql import SqlCatalog
from sqlalchemy.engine import make_url
from tests.support.postgres import Postgres
from tests.support.tcp_proxy import CommitLosingProxy

from floecat.connectors.auth.providers import NoAuthProvider
from floecat.connectors.iceberg import opening
from floecat.connectors.iceberg.factory import SQL
from floecat.connectors.spi.config import ConnectorConfig, ResolvedAuth
from floecat.connectors.spi.connector import FloecatConnector
from floecat.connectors.spi.errors import (
    PermanentUpstreamError,
    TransientUpstreamError,
    UpstreamProblem,
)
from floecat.connectors.spi.factory import ConnectorEnvironment
from floecat.connectors.testing import ConnectorConformance, Upstream
from floecat.security.guard import OutboundGuard, OutboundRules
from floecat.security.secret import Secret

pytestmark = pytest.mark.postgres


def connect(uri: str, root: Path) -> FloecatConnector:
    rules = OutboundRules(private_addresses=True, file_roots=(root,))
    environment = ConnectorEnvironment(auth=NoAuthProvider(), guard=OutboundGuard(rules))
    auth = ResolvedAuth(scheme="bearer", secrets={"token": Secret("not asked for")})
    options = {"user": "postgres", "catalog-name": "mine"}
    config = ConnectorConfig(kind_name=SQL.kind_name, uri=uri, options=options, auth=auth)
    return SQL.create(config, environment)


@pytest.fixture(scope="module")
def proxy(postgres: Postgres) -> Iterator[CommitLosingProxy]:
    """PostgreSQL listens on a unix socket only, and connectors name hosts."""
    proxy = CommitLosingProxy(postgres.socket)
    yield proxy
    proxy.close()


@pytest.fixture(scope="module")
def warehouse(proxy: CommitLosingProxy, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("postgres")
    uri = f"postgresql+psycopg://postgres@127.0.0.1:{proxy.port}/postgres"
    catalog = SqlCatalog("mine", uri=uri, warehouse=f"file://{folder}")
    catalog.create_namespace("sales")
    rows = pa.table({"id": [1, 2, 3]})
    catalog.create_table("sales.orders", rows.schema).append(rows)
    catalog.engine.dispose()
    return folder


class TestSqlInPostgres(ConnectorConformance):
    @pytest.fixture
    def upstream(self, proxy: CommitLosingProxy, warehouse: Path) -> Upstream:
        uri = f"postgresql://127.0.0.1:{proxy.port}/postgres"
        return Upstream(open=lambda: connect(uri, warehouse), namespace=("sales",), table="orders")


def test_failures_are_told_apart_and_hold_no_password(
    proxy: CommitLosingProxy, tmp_path: Path
) -> None:
    with pytest.raises(TransientUpstreamError) as passing:
        connect("postgresql://127.0.0.1:1/postgres", tmp_path)
    with pytest.raises(PermanentUpstreamError) as missing:
        connect(f"postgresql://127.0.0.1:{proxy.port}/nowhere", tmp_path)
    assert missing.value.problem is UpstreamProblem.NO_SUCH_WAREHOUSE
    for raised in (passing, missing):
        assert "not asked for" not in raised.value.message


def test_the_token_is_the_databases_password() -> None:
    guard = OutboundGuard(OutboundRules(), resolver=lambda _host, _port: [ip_address("8.8.8.8")])
    environment = ConnectorEnvironment(auth=NoAuthProvider(), guard=guard)
    auth = ResolvedAuth(scheme="bearer", secrets={"token": Secret("hunter2")})
    config = ConnectorConfig(
        kind_name=SQL.kind_name, uri="postgresql://db/lake", options={"user": "me"}, auth=auth
    )
    url = opening._postgres(make_url(config.uri), config, environment)
    assert (url.username, url.password) == ("me", "hunter2")
    assert "hunter2" not in str(url)
