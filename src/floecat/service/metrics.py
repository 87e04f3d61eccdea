"""What is measured of every call, for Prometheus. No label carries a name, an id or a secret."""

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

_BUCKETS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)


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

    def begin(self, method: str) -> None:
        """A call begins."""
        self._running.labels(method).inc()

    def end(self, method: str, status: str, seconds: float) -> None:
        """A call ends."""
        self._running.labels(method).dec()
        self._calls.labels(method, status).inc()
        self._seconds.labels(method).observe(seconds)
