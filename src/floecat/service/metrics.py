"""What is measured of every call, for Prometheus. No label carries a name, an id or a secret."""

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack
from itertools import accumulate
from threading import Lock
from typing import Final

from prometheus_client import CollectorRegistry, start_http_server
from prometheus_client.core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    HistogramMetricFamily,
    Metric,
)
from prometheus_client.registry import Collector

from floecat.errors import UnavailableError

_BUCKETS: Final = (
    *(0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0),
    float("inf"),
)


class MethodMetrics:
    """The measurements of one RPC.

    Plain numbers under one lock: the library's own are several objects with a lock each, and every
    call would pay for all of them.
    """

    def __init__(self, method: str) -> None:
        self._method = method
        self._lock = Lock()
        self._running = 0
        self._ended: Counter[str] = Counter()
        self._buckets = [0] * len(_BUCKETS)
        self._seconds = 0.0

    def begin(self) -> None:
        """A call begins."""
        with self._lock:
            self._running += 1

    def end(self, status: str, seconds: float) -> None:
        """A call ends."""
        bucket = bisect_left(_BUCKETS, seconds)
        with self._lock:
            self._running -= 1
            self._ended[status] += 1
            self._buckets[bucket] += 1
            self._seconds += seconds

    def report(
        self, calls: CounterMetricFamily, seconds: HistogramMetricFamily, running: GaugeMetricFamily
    ) -> None:
        """Add the numbers as they are now."""
        with self._lock:
            ended, buckets, total = dict(self._ended), list(self._buckets), self._seconds
            running.add_metric([self._method], self._running)
        for status, count in ended.items():
            calls.add_metric([self._method, status], count)
        limits = [str(limit) if limit < float("inf") else "+Inf" for limit in _BUCKETS]
        counts = [float(count) for count in accumulate(buckets)]
        reached = list(zip(limits, counts, strict=True))
        seconds.add_metric([self._method], reached, total)


class CallMetrics(Collector):
    """Counts, durations and calls under way, by RPC."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self._methods: list[MethodMetrics] = []
        registry.register(self)

    def of_method(self, method: str) -> MethodMetrics:
        """The measurements of one RPC."""
        metrics = MethodMetrics(method)
        self._methods.append(metrics)
        return metrics

    def collect(self) -> Iterator[Metric]:
        """Everything, as Prometheus asks for it."""
        calls = CounterMetricFamily(
            "floecat_calls", "Calls ended, by method and status.", labels=["method", "status"]
        )
        seconds = HistogramMetricFamily(
            "floecat_call_seconds", "How long calls took.", labels=["method"]
        )
        running = GaugeMetricFamily("floecat_calls_running", "Calls under way.", labels=["method"])
        for method in self._methods:
            method.report(calls, seconds, running)
        yield from (calls, seconds, running)


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
