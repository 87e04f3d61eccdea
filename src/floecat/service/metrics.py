"""What is measured of every call, for Prometheus. No label carries a name, an id or a secret."""

from contextlib import ExitStack

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, start_http_server

from floecat.errors import UnavailableError

_BUCKETS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)


class MethodMetrics:
    """The measurements of one RPC, looked up once."""

    def __init__(self, method: str, calls: Counter, seconds: Histogram, running: Gauge) -> None:
        self._method = method
        self._calls = calls
        self._seconds = seconds.labels(method)
        self._running = running.labels(method)
        self._succeeded = calls.labels(method, "OK")

    def begin(self) -> None:
        """A call begins."""
        self._running.inc()

    def end(self, status: str, seconds: float) -> None:
        """A call ends."""
        self._running.dec()
        self._seconds.observe(seconds)
        ended = self._succeeded if status == "OK" else self._calls.labels(self._method, status)
        ended.inc()


class CallMetrics:
    """Counts, durations and calls under way, by RPC."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self._calls = Counter(
            "floecat_calls",
            "Calls ended, by method and status.",
            ["method", "status"],
            registry=registry,
        )
        self._seconds = Histogram(
            "floecat_call_seconds",
            "How long calls took.",
            ["method"],
            registry=registry,
            buckets=_BUCKETS,
        )
        self._running = Gauge(
            "floecat_calls_running", "Calls under way.", ["method"], registry=registry
        )

    def of_method(self, method: str) -> MethodMetrics:
        """The measurements of one RPC."""
        return MethodMetrics(method, self._calls, self._seconds, self._running)


def serve_metrics(address: str | None, registry: CollectorRegistry, opened: ExitStack) -> None:
    """Serve `/metrics` on a port of its own, until `opened` closes."""
    if not address:
        return
    host, _, port = address.rpartition(":")
    try:
        server, thread = start_http_server(int(port), host or "localhost", registry=registry)
    except OSError as error:
        raise UnavailableError(
            f"can't serve metrics on {address}: {error.strerror} (change metrics.address)"
        ) from error
    opened.callback(thread.join)
    opened.callback(server.server_close)
    opened.callback(server.shutdown)
