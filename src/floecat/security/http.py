"""An HTTP client whose every connection, redirects included, goes where the guard allows."""

import ssl
from collections.abc import Iterable
from contextlib import AbstractContextManager
from datetime import timedelta
from types import TracebackType
from typing import Any, Final

import httpcore
import httpx
from typing_extensions import override

from floecat.security.guard import HTTP, OutboundGuard

MAX_REDIRECTS: Final = 5
_BODILESS: Final = frozenset({"GET", "HEAD"})
_SENSITIVE: Final = frozenset({"authorization", "cookie", "proxy-authorization"})


class GuardedBackend(httpcore.SyncBackend):
    """Connects to addresses that the guard approved, whatever name they were asked for by."""

    def __init__(self, guard: OutboundGuard) -> None:
        super().__init__()
        self._guard = guard

    @override
    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore.NetworkStream:
        approved = self._guard.check_host(host, port)
        failure: httpcore.ConnectError | None = None
        for address in approved.addresses:
            try:
                return super().connect_tcp(
                    str(address), port, timeout, local_address, socket_options
                )
            except httpcore.ConnectError as error:
                failure = error
        raise failure or httpcore.ConnectError(f"{host} has no address")


class GuardedTransport(httpx.HTTPTransport):
    """httpx's own transport over the guarded backend."""

    def __init__(self, guard: OutboundGuard, context: ssl.SSLContext) -> None:
        super().__init__(verify=context, retries=0)
        self._guard = guard
        self._pool.close()
        self._pool = httpcore.ConnectionPool(
            ssl_context=context, network_backend=GuardedBackend(guard), max_connections=8
        )

    @override
    def handle_request(self, request: httpx.Request) -> httpx.Response:
        self._guard.check_url(str(request.url), HTTP)
        return super().handle_request(request)


class GuardedClient(AbstractContextManager["GuardedClient"]):
    """Sends requests. Redirects are checked like any address, and lose credentials across hosts."""

    def __init__(
        self,
        guard: OutboundGuard,
        *,
        timeout: timedelta = timedelta(seconds=30),
        max_bytes: int = 64 * 1024 * 1024,
        context: ssl.SSLContext | None = None,
    ) -> None:
        self._client = httpx.Client(
            transport=GuardedTransport(guard, context or ssl.create_default_context()),
            timeout=timeout.total_seconds(),
            follow_redirects=False,
            trust_env=False,
        )
        self._max_bytes = max_bytes

    def request(
        self, method: str, url: str, *, headers: dict[str, str] | None = None, **content: Any
    ) -> httpx.Response:
        """One answer, whole but bounded. Statuses aren't judged here."""
        request = self._client.build_request(method, url, headers=headers, **content)
        for _ in range(MAX_REDIRECTS + 1):
            response = self._read(request)
            following = response.next_request
            if following is None or _carries_away(request, following):
                return response
            request = _redirected(request, following, set(headers or ()))
        raise httpx.TooManyRedirects("too many redirects", request=request)

    def _read(self, request: httpx.Request) -> httpx.Response:
        """Read an answer, but not one that never ends."""
        response = self._client.send(request, stream=True)
        try:
            parts: list[bytes] = []
            size = 0
            for part in response.iter_bytes():
                size += len(part)
                if size > self._max_bytes:
                    raise httpx.DecodingError(
                        f"the answer is longer than {self._max_bytes} bytes", request=request
                    )
                parts.append(part)
        finally:
            response.close()
        response._content = b"".join(parts)  # noqa: SLF001 - httpx has no bounded read
        return response

    def close(self) -> None:
        self._client.close()

    @override
    def __exit__(
        self,
        _kind: type[BaseException] | None,
        _error: BaseException | None,
        _trace: TracebackType | None,
    ) -> None:
        self.close()


def _carries_away(before: httpx.Request, after: httpx.Request) -> bool:
    """Whether a redirect would take a body, which may hold secrets, to another host."""
    return after.method not in _BODILESS and before.url.netloc != after.url.netloc


def _redirected(before: httpx.Request, after: httpx.Request, given: set[str]) -> httpx.Request:
    """The next request, without anything that the first host was to know alone."""
    if before.url.netloc != after.url.netloc or before.url.scheme != after.url.scheme:
        for name in {*given, *_SENSITIVE}:
            after.headers.pop(name, None)
    return after
