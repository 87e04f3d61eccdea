"""The service over real sockets: headers, errors, limits, health, metrics, a graceful stop."""

import threading
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import grpc
import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection_pb2, reflection_pb2_grpc
from tests.support.reflection import ReflectedClient
from tests.support.service import connected, running_service
from tests.support.waiting import PATIENCE_SECONDS, eventually

import floecat
from ai.floedb.floecat.account.account_pb2 import (
    AccountSpec,
    CreateAccountRequest,
    GetAccountRequest,
)
from ai.floedb.floecat.catalog import catalog_pb2, directory_pb2, namespace_pb2, table_pb2
from ai.floedb.floecat.catalog.catalog_pb2_grpc import CatalogServiceStub
from ai.floedb.floecat.common.common_pb2 import IdempotencyKey, NameRef
from floecat.bootstrap import Floecat
from floecat.catalog import keys
from floecat.client.failures import failure_of
from floecat.errors import (
    CancelledError,
    FailedPreconditionError,
    InvalidArgumentError,
    InvalidSettingsError,
    NotFoundError,
    UnauthenticatedError,
    UnavailableError,
)
from floecat.settings.load import load_settings


def create_catalog(clients: floecat.GrpcClients, name: str, key: str = "") -> catalog_pb2.Catalog:
    request = catalog_pb2.CreateCatalogRequest(spec=catalog_pb2.CatalogSpec(display_name=name))
    if key:
        request.idempotency.key = key
    return clients.catalogs.CreateCatalog(request).catalog


def test_the_first_command_works(clients: floecat.GrpcClients) -> None:
    listed = clients.catalogs.ListCatalogs(catalog_pb2.ListCatalogsRequest())
    assert "main" in [catalog.display_name for catalog in listed.catalogs]


def test_the_correlation_id_is_echoed_or_made(service: Floecat) -> None:
    with grpc.insecure_channel(f"127.0.0.1:{service.port}") as channel:
        plain = CatalogServiceStub(channel)  # without the client's own headers
        request = catalog_pb2.ListCatalogsRequest()
        _, call = plain.ListCatalogs.with_call(request, metadata=(("x-correlation-id", "abc-1"),))
        assert dict(call.trailing_metadata())["x-correlation-id"] == "abc-1"
        for bad in ("", "x" * 500):
            _, call = plain.ListCatalogs.with_call(request, metadata=(("x-correlation-id", bad),))
            made = dict(call.trailing_metadata())["x-correlation-id"]
            assert made
            assert made != bad
        metadata = (("x-correlation-id", "abc-2"),)
        with pytest.raises(grpc.RpcError) as refusal:
            plain.GetCatalog(catalog_pb2.GetCatalogRequest(), metadata=metadata)
        trailing: Any = refusal.value.trailing_metadata()
        assert dict(trailing)["x-correlation-id"] == "abc-2"


def test_accounts_are_kept_apart_by_header(service: Floecat, clients: floecat.GrpcClients) -> None:
    clients.accounts.CreateAccount(CreateAccountRequest(spec=AccountSpec(display_name="second")))
    create_catalog(clients, "first-only")
    with connected(service, account="second") as second:
        listed = second.catalogs.ListCatalogs(catalog_pb2.ListCatalogsRequest())
        assert list(listed.catalogs) == []
    with connected(service, account="nobody") as nobody, pytest.raises(UnauthenticatedError):
        nobody.catalogs.ListCatalogs(catalog_pb2.ListCatalogsRequest())


def test_an_account_may_have_any_letters(service: Floecat, clients: floecat.GrpcClients) -> None:
    for name in ("käse", "100% ours", "a%41"):
        clients.accounts.CreateAccount(CreateAccountRequest(spec=AccountSpec(display_name=name)))
        with connected(service, account=name) as named:
            own = named.accounts.GetAccount(GetAccountRequest()).account
        assert own.display_name == name


def test_a_failed_precondition_carries_the_current_meta(clients: floecat.GrpcClients) -> None:
    catalog = create_catalog(clients, "guarded")
    request = catalog_pb2.UpdateCatalogRequest(catalog_id=catalog.resource_id)
    request.precondition.expected_version = 7
    with pytest.raises(FailedPreconditionError) as refusal:
        clients.catalogs.UpdateCatalog(request)
    assert refusal.value.metadata["version"] == "1"
    assert refusal.value.metadata["correlation_id"]


def test_a_replay_is_the_same_bytes_on_the_wire(service: Floecat) -> None:
    spec = catalog_pb2.CatalogSpec(display_name="wire", properties={str(n): "v" for n in range(20)})
    request = catalog_pb2.CreateCatalogRequest(spec=spec)
    request.idempotency.key = "wire-1"
    with grpc.insecure_channel(f"127.0.0.1:{service.port}") as channel:
        raw = channel.unary_unary(
            "/ai.floedb.floecat.catalog.CatalogService/CreateCatalog",
            request_serializer=bytes,
            response_deserializer=bytes,
        )
        answers = {raw(request.SerializeToString()) for _ in range(5)}
    assert len(answers) == 1


def test_a_message_that_is_too_large_is_refused(clients: floecat.GrpcClients) -> None:
    spec = catalog_pb2.CatalogSpec(display_name="big", description="x" * (5 * 1024 * 1024))
    with pytest.raises(InvalidArgumentError, match="snapshot attach") as refusal:
        clients.catalogs.CreateCatalog(catalog_pb2.CreateCatalogRequest(spec=spec))
    assert refusal.value.reason == "MESSAGE_TOO_LARGE"


def test_a_service_refuses_what_is_too_large_too(service: Floecat) -> None:
    with grpc.insecure_channel(f"127.0.0.1:{service.port}") as channel:
        raw = channel.unary_unary(
            "/ai.floedb.floecat.catalog.CatalogService/GetCatalog",
            request_serializer=bytes,
            response_deserializer=bytes,
        )
        with pytest.raises(grpc.RpcError) as refusal:
            raw(bytes(5 * 1024 * 1024))
    assert isinstance(failure_of(refusal.value, "c").error, InvalidArgumentError)


def test_garbage_instead_of_a_message_is_no_internal_error(service: Floecat) -> None:
    with grpc.insecure_channel(f"127.0.0.1:{service.port}") as channel:
        raw = channel.unary_unary(
            "/ai.floedb.floecat.catalog.CatalogService/GetCatalog",
            request_serializer=bytes,
            response_deserializer=bytes,
        )
        with pytest.raises(grpc.RpcError) as refusal:
            raw(b"\xff\xff\xff\xff")
    assert refusal.value.code() is grpc.StatusCode.INVALID_ARGUMENT


def test_health_says_serving(service: Floecat) -> None:
    with grpc.insecure_channel(f"127.0.0.1:{service.port}") as channel:
        stub: Any = health_pb2_grpc.HealthStub(channel)
        answer = stub.Check(health_pb2.HealthCheckRequest())
    assert answer.status == health_pb2.HealthCheckResponse.SERVING


def test_the_create_table_example_works_through_reflection(
    service: Floecat, clients: floecat.GrpcClients
) -> None:
    catalog = create_catalog(clients, "demo")
    spec = namespace_pb2.NamespaceSpec(catalog_id=catalog.resource_id, display_name="sales")
    request = namespace_pb2.CreateNamespaceRequest(spec=spec)
    namespace = clients.namespaces.CreateNamespace(request).namespace
    body = """{
      "spec": {
      "catalog_id": {"account_id":"T","id":"C","kind":"RK_CATALOG"},
      "namespace_id": {"account_id":"T","id":"N","kind":"RK_NAMESPACE"},
      "display_name": "events",
      "schema_json": "{...Iceberg schema...}",
      "upstream": {
      "connector_id": {"account_id":"T","id":"conn","kind":"RK_CONNECTOR"},
      "uri": "s3://warehouse",
      "namespace_path": ["prod"],
      "table_display_name": "events"
      }
      },
      "idempotency": {"key": "create-events"}
      }"""
    adapted = (
        body.replace('"T"', f'"{catalog.resource_id.account_id}"')
        .replace('"C"', f'"{catalog.resource_id.id}"')
        .replace('"N"', f'"{namespace.resource_id.id}"')
    )
    with grpc.insecure_channel(f"127.0.0.1:{service.port}") as channel:
        reflected = ReflectedClient(channel)
        answer = reflected.call("ai.floedb.floecat.catalog.TableService/CreateTable", adapted)
        again = reflected.call("ai.floedb.floecat.catalog.TableService/CreateTable", adapted)
    assert answer == again
    name = NameRef(catalog="demo", path=["sales"], name="events")
    resolved = clients.directory.ResolveTable(directory_pb2.ResolveTableRequest(name=name))
    got = clients.tables.GetTable(table_pb2.GetTableRequest(table_id=resolved.resource_id))
    assert got.table.upstream.uri == "s3://warehouse"


def test_what_is_kept_survives_a_restart(tmp_path: Path) -> None:
    with running_service(tmp_path) as service, connected(service) as clients:
        create_catalog(clients, "kept")
    with running_service(tmp_path) as service, connected(service) as clients:
        listed = clients.catalogs.ListCatalogs(catalog_pb2.ListCatalogsRequest())
        assert [catalog.display_name for catalog in listed.catalogs] == ["kept", "main"]


def test_metrics_are_served_on_their_own_port(tmp_path: Path, unused_port: int) -> None:
    address = f"127.0.0.1:{unused_port}"
    with (
        running_service(tmp_path, kv="memory", blobs="memory", metrics_address=address) as service,
        connected(service) as clients,
    ):
        clients.catalogs.ListCatalogs(catalog_pb2.ListCatalogsRequest())
        with urllib.request.urlopen(f"http://{address}/metrics", timeout=10) as answer:
            text = answer.read().decode()
    method = "ai.floedb.floecat.catalog.CatalogService/ListCatalogs"
    assert f'floecat_calls_total{{method="{method}",status="OK"}} 1.0' in text
    assert f'floecat_call_seconds_count{{method="{method}"}} 1.0' in text


def test_what_was_acknowledged_before_a_stop_is_kept(tmp_path: Path) -> None:
    acknowledged: list[str] = []
    busy = threading.Event()

    def work(clients: floecat.GrpcClients) -> None:
        for number in range(10_000):
            try:
                acknowledged.append(create_catalog(clients, f"c{number}").display_name)
            except (UnavailableError, CancelledError):
                return
            if number == 5:
                busy.set()

    with running_service(tmp_path) as service:
        clients = floecat.connect(f"127.0.0.1:{service.port}")
        thread = threading.Thread(target=work, args=[clients])
        thread.start()
        assert busy.wait(timeout=PATIENCE_SECONDS), "the clients are at work"
    thread.join()
    clients.close()
    with running_service(tmp_path) as service, connected(service) as again:
        for name in acknowledged:
            request = directory_pb2.ResolveCatalogRequest(name=NameRef(catalog=name))
            assert again.directory.ResolveCatalog(request).resource_id.id


def test_a_taken_port_is_told(service: Floecat, tmp_path: Path) -> None:
    taken = f"127.0.0.1:{service.port}"
    starting = running_service(tmp_path, kv="memory", blobs="memory", server_address=taken)
    with pytest.raises(UnavailableError, match=r"server\.address"), starting:
        pass


def test_streams_left_open_starve_nobody(service: Floecat, clients: floecat.GrpcClients) -> None:
    """Reflection clients keep their streams open; health and calls must go on."""
    with grpc.insecure_channel(f"127.0.0.1:{service.port}") as channel:
        reflection: Any = reflection_pb2_grpc.ServerReflectionStub(channel)
        ended = threading.Event()

        def silence() -> Iterator[reflection_pb2.ServerReflectionRequest]:
            yield reflection_pb2.ServerReflectionRequest(list_services="")
            ended.wait(timeout=60)

        open_streams = [reflection.ServerReflectionInfo(silence()) for _ in range(8)]
        assert [next(stream).HasField("list_services_response") for stream in open_streams]
        health: Any = health_pb2_grpc.HealthStub(channel)
        assert health.Check(health_pb2.HealthCheckRequest(), timeout=10).status
        clients.catalogs.ListCatalogs(catalog_pb2.ListCatalogsRequest())
        ended.set()


def test_what_a_caller_sent_does_not_fill_the_errors_headers(
    clients: floecat.GrpcClients,
) -> None:
    catalog = create_catalog(clients, "long-masks")
    request = catalog_pb2.UpdateCatalogRequest(catalog_id=catalog.resource_id)
    for letter in ("x", "😀"):
        request.update_mask.paths[:] = [letter * 20_000]
        for _ in range(20):  # gRPC refuses headers between its two limits at random
            with pytest.raises(InvalidArgumentError, match="update_mask names"):
                clients.catalogs.UpdateCatalog(request)
    path = ["😀" * 255] * 30
    name = NameRef(catalog="main", path=path, name="t")
    with pytest.raises(NotFoundError):
        clients.directory.ResolveTable(directory_pb2.ResolveTableRequest(name=name))


def test_dev_mode_stays_on_this_machine() -> None:
    settings = load_settings({"FLOECAT_SERVER_ADDRESS": "0.0.0.0:0"}).settings
    with pytest.raises(InvalidSettingsError, match="--insecure-dev-on-network"):
        Floecat(settings)


def test_a_folder_that_cannot_be_used_is_told(tmp_path: Path) -> None:
    (tmp_path / "data").write_text("in the way")
    with (
        pytest.raises(InvalidSettingsError, match=r"choose a folder .* data\.dir"),
        running_service(tmp_path),
    ):
        pass


def test_an_empty_idempotency_key_is_refused(clients: floecat.GrpcClients) -> None:
    spec = catalog_pb2.CatalogSpec(display_name="keyless")
    request = catalog_pb2.CreateCatalogRequest(spec=spec, idempotency=IdempotencyKey())
    with pytest.raises(InvalidArgumentError, match=r"leave idempotency out") as refusal:
        clients.catalogs.CreateCatalog(request)
    assert refusal.value.field == "idempotency.key"


def test_a_running_service_finishes_deletions_by_itself(
    service: Floecat, clients: floecat.GrpcClients
) -> None:
    catalog = create_catalog(clients, "swept")
    delete = catalog_pb2.DeleteCatalogRequest(catalog_id=catalog.resource_id, cascade=True)
    clients.catalogs.DeleteCatalog(delete)
    kv = service._maintenance._kv
    eventually(
        lambda: not any(kv.scan(partition, limit=1) for partition in keys.sweeps()),
        "what was deleted is swept",
    )
    account, kind = catalog.resource_id.account_id, catalog.resource_id.kind
    assert kv.get(keys.resource(account, kind, catalog.resource_id.id)) is None


def test_bad_input_names_its_field(clients: floecat.GrpcClients) -> None:
    with pytest.raises(InvalidArgumentError, match=r"spec\.display_name"):
        clients.catalogs.CreateCatalog(catalog_pb2.CreateCatalogRequest())
