"""A world behind a running service: the same short ways to fill it, but over gRPC."""

from collections.abc import Sequence
from typing import Any

import grpc
from google.protobuf.descriptor import MethodDescriptor
from google.protobuf.message import Message
from google.protobuf.message_factory import GetMessageClass
from tests.support.catalog import World
from tests.support.waiting import PATIENCE_SECONDS

from ai.floedb.floecat.account import account_pb2
from ai.floedb.floecat.catalog import (
    catalog_pb2,
    constraints_pb2,
    index_pb2,
    namespace_pb2,
    snapshot_pb2,
    stats_pb2,
    table_pb2,
    view_pb2,
)
from ai.floedb.floecat.connector import connector_pb2
from ai.floedb.floecat.reconciler import reconciler_pb2

_METHODS = {
    f"{service.name}/{method.name}": method
    for module in (
        account_pb2,
        catalog_pb2,
        connector_pb2,
        constraints_pb2,
        index_pb2,
        namespace_pb2,
        reconciler_pb2,
        snapshot_pb2,
        stats_pb2,
        table_pb2,
        view_pb2,
    )
    for service in module.DESCRIPTOR.services_by_name.values()
    for method in service.methods
}


class RemoteWorld(World):
    """A new account of a service."""

    def __init__(self, channel: grpc.Channel, name: str) -> None:
        self._channel = channel
        spec = account_pb2.AccountSpec(display_name=name)
        created = self.send(
            "AccountService/CreateAccount", account_pb2.CreateAccountRequest(spec=spec)
        )
        self.account_id = created.account.resource_id.id

    def call(  # type: ignore[override]  # the client is a real one
        self, method: str, request: Message, *, account_id: str = ""
    ) -> Any:
        return self.send(method, request, ("x-floe-account", account_id or self.account_id))

    def send(self, method: str, request: Message, *headers: tuple[str, str]) -> Any:
        """Call an RPC by `Service/Method`, with headers; a stream has one message."""
        return call_rpc(self._channel, _METHODS[method], request, headers)


def call_rpc(
    channel: grpc.Channel,
    method: MethodDescriptor,
    request: Message,
    headers: Sequence[tuple[str, str]],
) -> Any:
    """Call an RPC that has one answer."""
    kind = channel.stream_unary if method.client_streaming else channel.unary_unary
    made: Any = kind(
        f"/{method.containing_service.full_name}/{method.name}",
        request_serializer=lambda message: message.SerializeToString(),
        response_deserializer=GetMessageClass(method.output_type).FromString,
    )
    argument = iter([request]) if method.client_streaming else request
    return made(argument, metadata=tuple(headers), timeout=PATIENCE_SECONDS)
