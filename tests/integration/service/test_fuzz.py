"""Every RPC of the contract with generated messages: never INTERNAL or UNKNOWN, never a hang."""

import importlib
import os
from collections.abc import Iterator
from typing import Any
from uuid import uuid4

import grpc
import pytest
from google.protobuf import descriptor_pool
from google.protobuf.descriptor import MethodDescriptor
from google.protobuf.message import Message
from google.protobuf.message_factory import GetMessageClass
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.support.fuzzing import Fuzzer
from tests.support.service import connected
from tests.unit.contract.surface import FILES, PACKAGE

import floecat
from ai.floedb.floecat.account.account_pb2 import AccountSpec, CreateAccountRequest
from ai.floedb.floecat.catalog import catalog_pb2, namespace_pb2, snapshot_pb2, table_pb2, view_pb2
from ai.floedb.floecat.common.common_pb2 import NameRef, ResourceId
from floecat.bootstrap import Floecat

EXAMPLES = 400 if os.environ.get("SOAK") else 25
FORBIDDEN = {
    grpc.StatusCode.INTERNAL,
    grpc.StatusCode.UNKNOWN,
    grpc.StatusCode.DEADLINE_EXCEEDED,
    grpc.StatusCode.DATA_LOSS,
}


def methods() -> list[MethodDescriptor]:
    found: list[MethodDescriptor] = []
    for name in FILES:
        importlib.import_module(f"{PACKAGE}.{name.replace('/', '.')}_pb2")
        file = descriptor_pool.Default().FindFileByName(f"{PACKAGE.replace('.', '/')}/{name}.proto")
        found += [method for s in file.services_by_name.values() for method in s.methods]
    return found


@pytest.fixture(scope="module")
def channel(service: Floecat) -> Iterator[grpc.Channel]:
    with grpc.insecure_channel(f"127.0.0.1:{service.port}") as plain:
        yield plain


def furnished(clients: floecat.GrpcClients) -> list[ResourceId]:
    """One of everything, in the clients' account."""
    spec = catalog_pb2.CatalogSpec(display_name="main")
    catalog = clients.catalogs.CreateCatalog(catalog_pb2.CreateCatalogRequest(spec=spec)).catalog
    namespace = clients.namespaces.CreateNamespace(
        namespace_pb2.CreateNamespaceRequest(
            spec=namespace_pb2.NamespaceSpec(catalog_id=catalog.resource_id, display_name="sales")
        )
    ).namespace
    table = clients.tables.CreateTable(
        table_pb2.CreateTableRequest(
            spec=table_pb2.TableSpec(namespace_id=namespace.resource_id, display_name="orders")
        )
    ).table
    sql = view_pb2.ViewSqlDefinition(dialect="spark", sql="select 1")
    view = clients.views.CreateView(
        view_pb2.CreateViewRequest(
            spec=view_pb2.ViewSpec(
                namespace_id=namespace.resource_id, display_name="daily", sql_definitions=[sql]
            )
        )
    ).view
    clients.snapshots.CreateSnapshot(
        snapshot_pb2.CreateSnapshotRequest(
            spec=snapshot_pb2.SnapshotSpec(table_id=table.resource_id, snapshot_id=1)
        )
    )
    return [catalog.resource_id, namespace.resource_id, table.resource_id, view.resource_id]


@pytest.mark.slow
@pytest.mark.parametrize("method", methods(), ids=lambda m: f"{m.containing_service.name}/{m.name}")
def test_generated_requests_get_a_proper_answer(
    method: MethodDescriptor, service: Floecat, channel: grpc.Channel
) -> None:
    account = f"fuzz-{uuid4().hex}"
    with connected(service) as founder:
        spec = AccountSpec(display_name=account)
        founder.accounts.CreateAccount(CreateAccountRequest(spec=spec))
    with connected(service, account=account) as clients:
        ids = furnished(clients)
    fuzzer = Fuzzer(ids, [NameRef(catalog="main", path=["sales"], name="orders")])
    requests = st.lists(fuzzer.messages(method.input_type), min_size=1, max_size=2)
    worst = settings(
        max_examples=EXAMPLES,
        deadline=None,
        database=None,
        suppress_health_check=list(HealthCheck),
    )

    @worst
    @given(requests)
    def answered(messages: list[Message]) -> None:
        code = outcome(channel, method, messages, account)
        assert code not in FORBIDDEN, (code, messages)

    answered()


def serialized(message: Message) -> bytes:
    return message.SerializeToString()


def outcome(
    channel: grpc.Channel, method: MethodDescriptor, messages: list[Message], account: str
) -> grpc.StatusCode:
    path = f"/{method.containing_service.full_name}/{method.name}"
    kind: Any = {
        (False, False): channel.unary_unary,
        (True, False): channel.stream_unary,
        (False, True): channel.unary_stream,
    }[method.client_streaming, method.server_streaming]
    call: Any = kind(
        path,
        request_serializer=serialized,
        response_deserializer=GetMessageClass(method.output_type).FromString,
    )
    argument = iter(messages) if method.client_streaming else messages[0]
    try:
        answer = call(argument, timeout=20, metadata=(("x-floe-account", account),))
        if method.server_streaming:
            list(answer)
    except grpc.RpcError as error:
        return error.code()
    return grpc.StatusCode.OK
