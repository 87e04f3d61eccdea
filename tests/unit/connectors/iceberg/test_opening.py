"""A database is reached where the guard allowed it, whatever else its URI says."""

from ipaddress import ip_address

import pytest
from psycopg.conninfo import conninfo_to_dict
from sqlalchemy import create_engine
from sqlalchemy.engine import make_url

from floecat.connectors.auth.providers import NoAuthProvider
from floecat.connectors.iceberg import opening
from floecat.connectors.iceberg.factory import SQL
from floecat.connectors.spi.config import ConnectorConfig
from floecat.connectors.spi.errors import PermanentUpstreamError, UpstreamProblem
from floecat.connectors.spi.factory import ConnectorEnvironment
from floecat.security.guard import OutboundGuard, OutboundRules

GUARD = OutboundGuard(
    OutboundRules(), resolver=lambda _host, _port: [ip_address("8.8.8.8"), ip_address("8.8.4.4")]
)
ENVIRONMENT = ConnectorEnvironment(auth=NoAuthProvider(), guard=GUARD)


@pytest.mark.parametrize(
    "uri",
    [
        "postgresql:///db",
        "postgresql:///db?host=127.0.0.1",
        "postgresql://db.example/db?host=127.0.0.1&port=1",
        "postgresql://db.example/db?host=/var/run/postgresql",
        "postgresql://db.example/db?hostaddr=127.0.0.1",
        "postgresql://db.example/db?port=1",
        "postgresql://db.example/db?service=x",
        "postgresql://db.example/db?sslrootcert=/etc/passwd",
        "postgresql://db.example/db?passfile=/etc/passwd",
        "postgresql://db.example/db?options=-csearch_path%3Dx",
        "postgresql://db.example/db?user=me",
    ],
)
def test_a_uri_cant_lead_elsewhere(uri: str) -> None:
    with pytest.raises(PermanentUpstreamError) as raised:
        SQL.create(ConnectorConfig(kind_name=SQL.kind_name, uri=uri), ENVIRONMENT)
    assert raised.value.problem is UpstreamProblem.BAD_SPEC


def test_the_driver_gets_the_addresses_that_were_judged() -> None:
    uri = "postgresql://db.example:6432/lake?sslmode=require&connect_timeout=3"
    config = ConnectorConfig(kind_name=SQL.kind_name, uri=uri)
    url = opening._postgres(make_url(uri), config, ENVIRONMENT)
    engine = create_engine(url)
    _, settings = engine.dialect.create_connect_args(url)
    engine.dispose()
    settings.pop("context", None)  # not libpq's
    assert conninfo_to_dict(**settings) == {
        "host": "db.example,db.example",
        "hostaddr": "8.8.8.8,8.8.4.4",
        "port": "6432,6432",
        "dbname": "lake",
        "sslmode": "require",
        "connect_timeout": "3",
    }
