"""Connectors through their handlers: secrets go in and don't come out."""

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from google.protobuf.field_mask_pb2 import FieldMask
from tests.support.catalog import World, outside
from tests.support.clock import FakeClock

from ai.floedb.floecat.account import account_pb2
from ai.floedb.floecat.common.common_pb2 import ResourceId
from ai.floedb.floecat.connector import connector_pb2
from ai.floedb.floecat.connector.connector_pb2 import (
    AuthConfig,
    AuthCredentials,
    Connector,
    ConnectorSpec,
    ValidateConnectorResponse,
)
from ai.floedb.floecat.execution.capture_pb2 import (
    DCS_EXPLICIT,
    DCS_FIRST_N,
    CapturePolicy,
    SamplingPolicy,
)
from floecat.catalog.connectors import ConnectorRepository
from floecat.catalog.records import CatalogStores
from floecat.errors import FloecatError, InvalidArgumentError, NotFoundError
from floecat.security.guard import OutboundGuard, OutboundRules
from floecat.security.secret import Secret
from floecat.storage.blobs.memory import MemoryBlobStore
from floecat.storage.kv.memory import MemoryKeyValueStore

BEARER = AuthCredentials(bearer=connector_pb2.BearerCredentials(token="canary-token"))


def bearer(token: str) -> AuthConfig:
    credentials = AuthCredentials(bearer=connector_pb2.BearerCredentials(token=token))
    return AuthConfig(credentials=credentials)


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def world(clock: FakeClock) -> World:
    return World(CatalogStores(MemoryKeyValueStore(), MemoryBlobStore(), clock))


def get(world: World, connector_id: ResourceId) -> Connector:
    request = connector_pb2.GetConnectorRequest(connector_id=connector_id)
    found: Connector = world.call("Connectors/GetConnector", request).connector
    return found


def update(world: World, connector_id: ResourceId, *paths: str, **fields: Any) -> Connector:
    request = connector_pb2.UpdateConnectorRequest(
        connector_id=connector_id, spec=ConnectorSpec(**fields), update_mask=FieldMask(paths=paths)
    )
    updated: Connector = world.call("Connectors/UpdateConnector", request).connector
    return updated


def secrets_kept(world: World) -> dict[str, bytes]:
    """Every secret there is, decrypted."""
    store = outside(world.stores).secrets
    return {i.reference: store.get(i.account, i.reference).reveal() for i in store.list()}


def test_a_connector_is_made_and_shown_without_its_secrets(world: World) -> None:
    auth = AuthConfig(credentials=BEARER, headers={"X-Key": "canary-header"})
    made = get(world, world.connector(auth=auth, description="all of it"))
    assert made.kind == connector_pb2.CK_CUSTOM
    assert made.kind_name == "parquet-folder"
    assert made.format == connector_pb2.CF_OTHER
    assert made.state == connector_pb2.CS_ACTIVE
    assert (made.auth.credentials_type, made.auth.has_credentials) == ("bearer", True)
    assert made.auth.headers == {"X-Key": "***"}
    assert b"canary" not in made.SerializeToString()
    listed = world.call("Connectors/ListConnectors", connector_pb2.ListConnectorsRequest())
    assert list(listed.connectors) == [made]
    [kept] = secrets_kept(world).values()
    assert b"canary-token" in kept
    assert b"canary-header" in kept


def test_secrets_that_arent_sent_stay(world: World) -> None:
    auth = AuthConfig(credentials=BEARER, headers={"X-Key": "canary-header"})
    connector_id = world.connector(auth=auth)
    before = secrets_kept(world)
    shown = get(world, connector_id)
    update(world, connector_id, auth=shown.auth, description="as it was read")
    update(world, connector_id, auth=AuthConfig(headers={"X-Key": "***"}, properties={"a": "b"}))
    update(world, connector_id, "auth.properties", auth=AuthConfig(properties={"region": "x"}))
    assert secrets_kept(world) == before
    assert get(world, connector_id).auth.properties == {"region": "x"}


def test_new_secrets_replace_the_old_ones(world: World) -> None:
    connector_id = world.connector(auth=AuthConfig(credentials=BEARER))
    first = get(world, connector_id)
    other = AuthCredentials(bearer=connector_pb2.BearerCredentials(token="canary-second"))
    second = update(world, connector_id, auth=AuthConfig(credentials=other))
    assert second.auth.credentials_reference != first.auth.credentials_reference
    [kept] = secrets_kept(world).values()
    assert b"canary-second" in kept
    assert b"canary-token" not in kept


def test_secrets_dont_follow_to_another_host(world: World) -> None:
    connector_id = world.connector(uri="https://catalog.example.com", auth=bearer("canary-token"))
    before = secrets_kept(world)
    with pytest.raises(InvalidArgumentError, match="would go to another host"):
        update(world, connector_id, uri="https://evil.example.com")
    update(world, connector_id, uri="https://catalog.example.com/other/path")
    assert secrets_kept(world) == before
    update(world, connector_id, uri="https://new.example.com", auth=bearer("canary-new"))
    [kept] = secrets_kept(world).values()
    assert b"canary-new" in kept


def test_the_scheme_none_forgets_them(world: World) -> None:
    connector_id = world.connector(auth=AuthConfig(credentials=BEARER))
    update(world, connector_id, "auth.scheme", auth=AuthConfig(scheme="none"))
    assert secrets_kept(world) == {}
    assert not get(world, connector_id).auth.has_credentials


def test_deleting_a_connector_deletes_its_secrets(world: World) -> None:
    connector_id = world.connector(auth=AuthConfig(credentials=BEARER))
    request = connector_pb2.DeleteConnectorRequest(connector_id=connector_id)
    world.call("Connectors/DeleteConnector", request)
    assert secrets_kept(world) == {}
    with pytest.raises(NotFoundError):
        get(world, connector_id)


def test_orphaned_secrets_are_collected_after_a_while(world: World, clock: FakeClock) -> None:
    parts = outside(world.stores)
    repository = ConnectorRepository(world.stores, parts.secrets, parts.opener)
    world.connector(auth=AuthConfig(credentials=BEARER))
    named = secrets_kept(world)
    orphan = parts.secrets.put(world.account_id, "connector/gone/1", Secret(b"x"))
    world.stores.kv.commit(orphan)
    assert repository.collect_secrets() == 0
    clock.advance(hours=2)
    assert repository.collect_secrets(dry_run=True) == repository.collect_secrets() == 1
    assert secrets_kept(world) == named


def test_a_cascade_takes_connectors_along(world: World) -> None:
    connector_id = world.connector()
    account = ResourceId(account_id=world.account_id, id=world.account_id)
    refused = account_pb2.DeleteAccountRequest(account_id=account)
    with pytest.raises(FloecatError, match="isn't empty"):
        world.call("AccountService/DeleteAccount", refused)
    cascade = account_pb2.DeleteAccountRequest(account_id=account, cascade=True)
    world.call("AccountService/DeleteAccount", cascade)
    world.sweep()
    assert world.findings() == []
    with pytest.raises(NotFoundError):
        get(world, connector_id)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"kind_name": ""}, "what sort of catalog"),
        ({"kind_name": "oracle"}, "no connector of kind 'oracle'"),
        ({"state": connector_pb2.CS_ERROR}, "set by Floecat alone"),
        ({"uri": "https://me:canary-1@catalog"}, "carries a password"),
        ({"uri": "https://catalog?token=canary-1"}, "looks like a secret"),
        ({"uri": "https://canary-1@catalog"}, "carries a password"),
        ({"uri": "https://catalog?sig=canary-1"}, "looks like a secret"),
        ({"auth": bearer("")}, "it is empty"),
        ({"auth": bearer("canary\n1")}, "no header can hold it"),
        ({"auth": bearer("canaryé")}, "no header can hold it"),
        ({"properties": {"s3.secret-access-key": "canary-1"}}, "looks like a secret"),
        ({"properties": {"Password": "canary-1"}}, "looks like a secret"),
        ({"properties": {"no-such-option": "1"}}, "no option no-such-option"),
        ({"auth": AuthConfig(properties={"client_secret": "canary-1"})}, "looks like a secret"),
        ({"auth": AuthConfig(headers={"X Key": "v"})}, "characters it can't have"),
        ({"auth": AuthConfig(headers={"X-Key": "a\r\nHost: b"})}, "characters it can't have"),
        ({"auth": AuthConfig(headers={"X-Key": "***"})}, "no value yet"),
        ({"policy": connector_pb2.ReconcilePolicy(keep_snapshots=0)}, "at least one snapshot"),
    ],
)
def test_what_cant_be_right_is_refused(world: World, fields: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidArgumentError, match=message) as refused:
        world.connector(**fields)
    assert "canary" not in refused.value.message
    assert secrets_kept(world) == {}


@pytest.mark.parametrize(
    ("capture", "field"),
    [
        (CapturePolicy(default_scope=DCS_FIRST_N, first_n=-2), "first_n"),
        (CapturePolicy(default_scope=DCS_FIRST_N), "first_n"),
        (
            CapturePolicy(sampling=SamplingPolicy(row_group_fraction=1.5)),
            "sampling.row_group_fraction",
        ),
    ],
)
def test_a_capture_policy_that_means_nothing_is_refused(
    world: World, capture: CapturePolicy, field: str
) -> None:
    policy = connector_pb2.ReconcilePolicy(capture=capture)
    with pytest.raises(InvalidArgumentError) as refused:
        world.connector(policy=policy)
    assert refused.value.field == f"spec.policy.capture.{field}"


def test_columns_may_be_left_for_runs_to_name(world: World) -> None:
    policy = connector_pb2.ReconcilePolicy(capture=CapturePolicy(default_scope=DCS_EXPLICIT))
    world.connector(policy=policy)


def test_an_interval_below_ten_seconds_is_refused(world: World) -> None:
    policy = connector_pb2.ReconcilePolicy()
    policy.interval.FromSeconds(9)
    with pytest.raises(InvalidArgumentError, match="below 10 seconds"):
        world.connector(policy=policy)


def test_the_kind_stays(world: World) -> None:
    connector_id = world.connector()
    with pytest.raises(InvalidArgumentError, match="can't be changed"):
        update(world, connector_id, kind_name="delta-unity")


class TestValidation:
    @pytest.fixture
    def folder(self, tmp_path: Path) -> Path:
        table = tmp_path / "lake" / "sales" / "orders"
        table.mkdir(parents=True)
        pq.write_table(pa.table({"id": [1]}), table / "0.parquet")
        return tmp_path / "lake"

    @pytest.fixture
    def world(self, folder: Path) -> World:
        stores = CatalogStores(MemoryKeyValueStore(), MemoryBlobStore())
        return World(stores, guard=OutboundGuard(OutboundRules(file_roots=(folder,))))

    def tried(self, world: World, **target: Any) -> ValidateConnectorResponse:
        request = connector_pb2.ValidateConnectorRequest(**target)
        answer: ValidateConnectorResponse = world.call("Connectors/ValidateConnector", request)
        return answer

    def test_a_connector_that_works(self, world: World, folder: Path) -> None:
        connector_id = world.connector(uri=f"file://{folder}")
        tried = self.tried(world, connector_id=connector_id)
        assert tried.valid
        assert [list(path.segments) for path in tried.namespaces] == [["sales"]]
        assert tried.format == connector_pb2.CF_OTHER
        assert tried.capabilities["views"] == "false"
        assert tried.elapsed.ToMicroseconds() > 0

    def test_one_that_isnt_created_yet(self, world: World, folder: Path) -> None:
        spec = ConnectorSpec(display_name="x", kind_name="parquet-folder", uri=str(folder))
        assert self.tried(world, spec=spec).valid

    def test_an_address_that_isnt_allowed(self, world: World) -> None:
        tried = self.tried(world, connector_id=world.connector(uri="file:///etc"))
        assert not tried.valid
        assert tried.problem == connector_pb2.VP_ADDRESS_NOT_ALLOWED
        assert "outbound.file-roots" in tried.message

    def test_a_specification_that_is_wrong(self, world: World) -> None:
        tried = self.tried(world, spec=ConnectorSpec(display_name="x", kind_name="oracle"))
        assert tried.problem == connector_pb2.VP_BAD_SPEC

    @pytest.mark.parametrize(
        ("name", "credentials"),
        [
            ("token-exchange", {"token_exchange": {"subject_token": "canary"}}),
            ("token-exchange-entra", {"token_exchange_entra": {"client_secret": "canary"}}),
            ("token-exchange-gcp", {"token_exchange_gcp": {"subject_token": "canary"}}),
            ("aws-assume-role", {"aws_assume_role": {"role_arn": "arn"}}),
            ("aws-web-identity", {"aws_web_identity": {"web_identity_token": "canary"}}),
        ],
    )
    def test_credentials_that_come_later_are_kept_and_say_so(
        self, world: World, folder: Path, name: str, credentials: dict[str, Any]
    ) -> None:
        auth = AuthConfig(credentials=AuthCredentials(**credentials))
        connector_id = world.connector(uri=f"file://{folder}", auth=auth)
        assert get(world, connector_id).auth.credentials_type == name
        tried = self.tried(world, connector_id=connector_id)
        assert tried.problem == connector_pb2.VP_NOT_SUPPORTED_YET
        assert name in tried.message

    def test_nothing_to_try(self, world: World) -> None:
        with pytest.raises(InvalidArgumentError, match="say what to validate"):
            self.tried(world)
