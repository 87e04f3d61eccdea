"""A client that knows nothing but what the server's reflection tells it, like grpcurl."""

import json
from typing import Any

import grpc
from google.protobuf import descriptor_pb2, descriptor_pool, json_format, message_factory
from grpc_reflection.v1alpha import reflection_pb2, reflection_pb2_grpc


class ReflectedClient:
    """Calls RPCs with JSON."""

    def __init__(self, channel: grpc.Channel) -> None:
        self._channel = channel
        self._pool = descriptor_pool.DescriptorPool()
        self._stub: Any = reflection_pb2_grpc.ServerReflectionStub(channel)

    def call(self, method: str, body: str) -> dict[str, object]:
        service, _, name = method.partition("/")
        self._learn(service)
        descriptor = self._pool.FindServiceByName(service).methods_by_name[name]
        request = message_factory.GetMessageClass(descriptor.input_type)()
        answer_type = message_factory.GetMessageClass(descriptor.output_type)
        json_format.Parse(body, request, descriptor_pool=self._pool)
        call: Any = self._channel.unary_unary(
            f"/{method}",
            request_serializer=lambda message: message.SerializeToString(),
            response_deserializer=answer_type.FromString,
        )
        answer = call(request)
        text = json_format.MessageToJson(
            answer, preserving_proto_field_name=True, descriptor_pool=self._pool
        )
        shown: dict[str, object] = json.loads(text)
        return shown

    def _learn(self, symbol: str) -> None:
        ask = reflection_pb2.ServerReflectionRequest(file_containing_symbol=symbol)
        answer = next(iter(self._stub.ServerReflectionInfo(iter([ask]))))
        for raw in reversed(answer.file_descriptor_response.file_descriptor_proto):
            file = descriptor_pb2.FileDescriptorProto.FromString(raw)
            try:
                self._pool.FindFileByName(file.name)
            except KeyError:
                self._add(file)

    def _add(self, file: descriptor_pb2.FileDescriptorProto) -> None:
        for dependency in file.dependency:
            try:
                self._pool.FindFileByName(dependency)
            except KeyError:
                ask = reflection_pb2.ServerReflectionRequest(file_by_filename=dependency)
                answer = next(iter(self._stub.ServerReflectionInfo(iter([ask]))))
                for raw in answer.file_descriptor_response.file_descriptor_proto:
                    found = descriptor_pb2.FileDescriptorProto.FromString(raw)
                    if found.name == dependency:
                        self._add(found)
        self._pool.Add(file)
