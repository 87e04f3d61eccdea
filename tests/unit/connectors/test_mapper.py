"""Configurations to messages and back, without loss."""

from datetime import UTC

from hypothesis import given
from hypothesis import strategies as st

from ai.floedb.floecat.common.common_pb2 import RK_CONNECTOR, ResourceId
from ai.floedb.floecat.connector.connector_pb2 import (
    AuthConfig,
    Connector,
    ConnectorKind,
    ConnectorState,
    DestinationTarget,
    ReconcilePolicy,
    SourceSelector,
)
from floecat.connectors.spi.config import ConnectorConfig, ResolvedAuth
from floecat.connectors.spi.mapper import KIND_NAMES, ConnectorConfigMapper
from floecat.security.secret import Secret

MAPPER = ConnectorConfigMapper()
text = st.text(max_size=8)
texts = st.dictionaries(text, text, max_size=3)
secrets = st.dictionaries(text, st.builds(lambda value: Secret(f"canary{value}"), text), max_size=3)
auths = st.builds(
    ResolvedAuth,
    scheme=text,
    secrets=secrets,
    headers=secrets,
    options=texts,
    expires_at=st.none() | st.datetimes(timezones=st.just(UTC)),
)
configs = st.builds(
    ConnectorConfig,
    kind_name=st.sampled_from([*KIND_NAMES.values(), "a-third-partys"]),
    uri=text,
    connector_id=st.builds(ResourceId, account_id=text, id=text, kind=st.just(RK_CONNECTOR)),
    display_name=text,
    options=texts,
    auth=auths,
)


@given(configs)
def test_a_worker_gets_the_same_configuration(config: ConnectorConfig) -> None:
    assert MAPPER.from_leased(MAPPER.to_leased(config)) == config


@given(configs)
def test_a_connector_shows_everything_but_secrets(config: ConnectorConfig) -> None:
    shown = MAPPER.to_connector(config)
    assert MAPPER.from_connector(shown, config.auth) == config
    assert set(shown.auth.headers.values()) <= {"***"}
    assert not shown.auth.HasField("credentials")
    assert shown.auth.has_credentials == bool(config.auth.secrets)
    assert b"canary" not in shown.SerializeToString()


@given(texts, text, st.sampled_from(list(KIND_NAMES)))
def test_a_stored_connector_survives(
    properties: dict[str, str], name: str, kind: "ConnectorKind.ValueType"
) -> None:
    connector = Connector(
        resource_id=ResourceId(account_id="a", id="c", kind=RK_CONNECTOR),
        display_name=name,
        description=name,
        kind=kind,
        kind_name=KIND_NAMES[kind],
        uri="https://catalog.example.com",
        source=SourceSelector(exclude=["tmp.*"]),
        destination=DestinationTarget(catalog_display_name="lake", namespace_path=["eu"]),
        auth=AuthConfig(scheme="bearer", properties=properties, has_credentials=True),
        policy=ReconcilePolicy(enabled=True, keep_snapshots=3),
        state=ConnectorState.CS_PAUSED,
        properties=properties,
    )
    auth = ResolvedAuth(scheme="bearer", secrets={"token": Secret("t")}, options=properties)
    assert MAPPER.to_connector(MAPPER.from_connector(connector, auth)) == connector
