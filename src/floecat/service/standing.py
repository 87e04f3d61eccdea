"""Health and reflection: the streams that clients leave open, and that must not delay a stop."""

import threading
from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

import grpc
from grpc_health.v1 import health, health_pb2
from grpc_reflection.v1alpha import reflection

_Send: TypeAlias = Callable[[health_pb2.HealthCheckResponse | None], None]


class _Watcher:
    """Sends to one watcher until its stream is ended, which happens once, whoever does it."""

    def __init__(self, send: _Send) -> None:
        self._send = send
        self._ended = False
        self._ending = threading.Lock()

    def __call__(self, answer: health_pb2.HealthCheckResponse | None) -> None:
        with self._ending:
            if self._ended:
                return
            self._ended = answer is None
        self._send(answer)


class Health(health.HealthServicer):
    """Health checks whose watchers can be told that there is nothing more to watch."""

    def __init__(self) -> None:
        super().__init__()
        self._watchers: set[_Watcher] = set()

    def Watch(  # type: ignore[override]  # gRPC always gives the callback, as is asked of it
        self,
        request: health_pb2.HealthCheckRequest,
        context: grpc.ServicerContext,
        send_response_callback: _Send,
    ) -> None:
        watcher = _Watcher(send_response_callback)
        self._watchers.add(watcher)
        context.add_callback(lambda: self._watchers.discard(watcher))
        super().Watch(request, context, watcher)

    def end_watches(self) -> None:
        """End every watch, after what was sent to it."""
        for watcher in tuple(self._watchers):
            watcher(None)


class Reflection(reflection.ReflectionServicer):
    """Reflection whose streams can be ended from this side."""

    def __init__(self, service_names: list[str]) -> None:
        super().__init__(service_names)
        self._open: set[grpc.ServicerContext] = set()

    def ServerReflectionInfo(self, request_iterator: Any, context: Any) -> Iterator[Any]:
        self._open.add(context)
        try:
            yield from super().ServerReflectionInfo(request_iterator, context)
        finally:
            self._open.discard(context)

    def end_streams(self) -> None:
        """End every stream; nobody waits for an answer on one that is silent."""
        for context in tuple(self._open):
            context.cancel()
