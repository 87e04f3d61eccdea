"""The gRPC server: handlers, thread pools, health, reflection, and a graceful stop."""

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Final

import grpc
from google.protobuf.descriptor import MethodDescriptor, ServiceDescriptor
from grpc_health.v1 import health, health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection
from grpc_reflection.v1alpha.reflection_pb2_grpc import add_ServerReflectionServicer_to_server

from floecat.errors import UnavailableError
from floecat.service.endpoints import Endpoint, Surroundings
from floecat.service.pools import CallPool
from floecat.service.standing import Health, Reflection

_OTHER_THREADS: Final = 32
_LEASING: Final = frozenset(
    {
        "LeaseReconcileJob",
        "StartLeasedReconcileJob",
        "RenewReconcileJobLease",
        "ReportReconcileJobProgress",
        "GetReconcileJobCancellation",
    }
)
"""Calls that keep leases alive: they must never wait behind anything else."""
_LEASING_THREADS: Final = 4
_WAITING: Final = frozenset({"ValidateConnector", "CaptureNow"})
"""Calls that wait for somebody else, maybe for long."""
_WAITING_THREADS: Final = 8
_MAX_WAITERS: Final = 8
"""How many more may queue behind those: they'd wait for long."""

MAX_MESSAGE_BYTES: Final = 4 * 1024 * 1024

_OPTIONS: Final = (
    ("grpc.max_receive_message_length", MAX_MESSAGE_BYTES),
    ("grpc.max_send_message_length", MAX_MESSAGE_BYTES),
    # Two servers on one port would share its calls silently; better to be told that it is taken.
    ("grpc.so_reuseport", 0),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerConfig:
    """How to listen."""

    address: str
    """`host:port`; port 0 takes a free one."""
    unary_threads: int = 16
    stream_threads: int = 16
    unary_waiting: int = 1000
    """How many calls may wait for a thread before more are refused."""
    stream_waiting: int = 100
    reflection: bool = True
    grace: timedelta = timedelta(seconds=10)


class Server:
    """Serves handlers: one object per service, with one method per RPC."""

    def __init__(
        self,
        config: ServerConfig,
        handlers: Mapping[ServiceDescriptor, object],
        around: Surroundings,
    ) -> None:
        self._config = config
        # One kind of call must not starve another, so each has threads of its own.
        self._unary = CallPool("unary", config.unary_threads, config.unary_waiting)
        self._streams = CallPool("stream", config.stream_threads, config.stream_waiting)
        self._waiters = CallPool("waiter", _WAITING_THREADS, _MAX_WAITERS)
        self._leases = CallPool("lease", _LEASING_THREADS, config.unary_waiting)
        # Health checks and reflection too: their streams may stay open for ever.
        self._others = ThreadPoolExecutor(_OTHER_THREADS, "floecat-other")
        self._health = Health()
        self._server = grpc.server(self._others, options=_OPTIONS)
        for service, handler in handlers.items():
            self._add(service, handler, around)
        health_pb2_grpc.add_HealthServicer_to_server(self._health, self._server)
        names = [service.full_name for service in handlers]
        self._reflection = Reflection([*names, health.SERVICE_NAME, reflection.SERVICE_NAME])
        if config.reflection:
            add_ServerReflectionServicer_to_server(  # type: ignore[no-untyped-call]  # generated
                self._reflection, self._server
            )
        self.port = self._bind()

    def start(self) -> None:
        """Begin to serve, and say so to health checks."""
        self._server.start()
        self._health.set("", health_pb2.HealthCheckResponse.SERVING)

    def announce_stop(self) -> None:
        """Say to health checks that it will stop, so that new calls go elsewhere."""
        self._health.enter_graceful_shutdown()

    def stop(self) -> None:
        """Take no more calls, let those under way finish within the grace, then end them."""
        self.announce_stop()
        stopped = self._server.stop(self._config.grace.total_seconds())
        # Now that no new ones come: these would go on for the whole grace, and for nothing.
        self._health.end_watches()
        self._reflection.end_streams()
        stopped.wait()
        for pool in (self._unary, self._streams, self._waiters, self._leases, self._others):
            pool.shutdown(wait=False, cancel_futures=True)

    def wait(self) -> None:
        """Until the server has stopped."""
        self._server.wait_for_termination()

    def _bind(self) -> int:
        try:
            return self._server.add_insecure_port(self._config.address)
        except RuntimeError as error:
            raise UnavailableError(
                f"can't listen on {self._config.address}: another process may have it "
                "(choose another with server.address)"
            ) from error

    def _add(self, service: ServiceDescriptor, handler: object, around: Surroundings) -> None:
        methods = {method.name: self._method(method, handler, around) for method in service.methods}
        # Registered, gRPC's core finds the handler; generic ones would all be asked, call by call.
        self._server.add_registered_method_handlers(service.full_name, methods)

    def _method(
        self, method: MethodDescriptor, handler: object, around: Surroundings
    ) -> "grpc.RpcMethodHandler[Any, Any]":
        endpoint = Endpoint(method, getattr(handler, method.name), around, self._pool_of(method))
        return endpoint.method_handler()

    def _pool_of(self, method: MethodDescriptor) -> CallPool:
        if method.name in _WAITING:
            return self._waiters
        if method.name in _LEASING:
            return self._leases
        streams = method.client_streaming or method.server_streaming
        return self._streams if streams else self._unary
