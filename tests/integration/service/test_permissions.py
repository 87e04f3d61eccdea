"""Permissions are asked for at every RPC that is served, whatever it is called with."""

from collections.abc import Iterator
from typing import Any

import grpc
import pytest
from google.protobuf.descriptor import MethodDescriptor
from google.protobuf.descriptor_pool import Default
from grpc_reflection.v1alpha import reflection_pb2, reflection_pb2_grpc

from floecat.bootstrap import Floecat
from floecat.service.permissions import PACKAGE, ROLES, permission_for


@pytest.fixture(scope="module")
def channel(service: Floecat) -> Iterator[grpc.Channel]:
    with grpc.insecure_channel(f"127.0.0.1:{service.port}") as opened:
        yield opened


def served_methods(channel: grpc.Channel) -> list[MethodDescriptor]:
    """Every RPC of ours, as the service itself lists them."""
    stub: Any = reflection_pb2_grpc.ServerReflectionStub(channel)
    ask = reflection_pb2.ServerReflectionRequest(list_services="")
    answer = next(iter(stub.ServerReflectionInfo(iter([ask]))))
    names = [service.name for service in answer.list_services_response.service]
    return [
        method
        for name in names
        if name.startswith(PACKAGE)
        for method in Default().FindServiceByName(name).methods
    ]


def status_for(channel: grpc.Channel, method: MethodDescriptor, role: str) -> grpc.StatusCode:
    """How an empty call of an RPC ends for a role."""
    kind = {
        (False, False): channel.unary_unary,
        (True, False): channel.stream_unary,
        (False, True): channel.unary_stream,
    }[method.client_streaming, method.server_streaming]
    path = f"/{method.containing_service.full_name}/{method.name}"
    call: Any = kind(path, request_serializer=bytes, response_deserializer=bytes)
    request: Any = iter([b""]) if method.client_streaming else b""
    try:
        answer = call(request, metadata=(("x-floe-role", role),), timeout=30)
        if method.server_streaming:
            list(answer)
    except grpc.RpcError as error:
        code: grpc.StatusCode = error.code()
        return code
    return grpc.StatusCode.OK


@pytest.mark.parametrize("role", ROLES)
def test_a_role_gets_as_far_as_its_permissions(channel: grpc.Channel, role: str) -> None:
    methods = served_methods(channel)
    refused = {
        method.full_name
        for method in methods
        if status_for(channel, method, role) is grpc.StatusCode.PERMISSION_DENIED
    }
    lacking = {
        method.full_name
        for method in methods
        if permission_for(method.containing_service.full_name, method.name) not in ROLES[role]
    }
    assert lacking, "every role lacks something, or this shows nothing"
    assert refused == lacking
