"""Connectors as leases name them: opened, kept for the next job for a moment, and given back."""

import hashlib
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from ai.floedb.floecat.reconciler.executor_control_pb2 import LeasedConnector
from floecat.clock import Clock, utc_now
from floecat.connectors.opening import ConnectorOpener
from floecat.connectors.spi.connector import FloecatConnector
from floecat.connectors.spi.mapper import ConnectorConfigMapper

_KEEP: Final = 8
_KEEP_SECONDS: Final = 30.0
_MARGIN: Final = timedelta(minutes=2)
"""Credentials that end sooner than that aren't begun with."""


@dataclass(frozen=True, slots=True)
class _Idle:
    connector: FloecatConnector
    since: float
    expires_at: datetime | None


class OpenConnectors:
    """Jobs of one connector follow each other closely, and opening one takes longer than many jobs.

    A connector is lent to one job at a time. Another configuration, or other credentials, are
    another connector.
    """

    def __init__(
        self,
        opener: ConnectorOpener,
        clock: Clock = utc_now,
        elapsed: Callable[[], float] = time.monotonic,
    ) -> None:
        self._opener = opener
        self._clock = clock
        self._elapsed = elapsed
        self._lock = threading.Lock()
        self._idle: OrderedDict[tuple[bytes, int], _Idle] = OrderedDict()

    @contextmanager
    def lent(self, leased: LeasedConnector) -> Iterator[FloecatConnector]:
        """A connector for one job. After a failure it isn't used again."""
        key = hashlib.sha256(leased.SerializeToString(deterministic=True)).digest()
        config = ConnectorConfigMapper().from_leased(leased)
        connector = self._take(key) or self._opener.open(config)
        try:
            yield connector
        except BaseException:
            _close(connector)
            raise
        self._keep(key, _Idle(connector, self._elapsed(), config.auth.expires_at))

    def close_idle(self, older_than: float = _KEEP_SECONDS) -> None:
        """Close what nobody has used for a while."""
        limit = self._elapsed() - older_than
        with self._lock:
            old = [key for key, idle in self._idle.items() if idle.since <= limit]
            closing = [self._idle.pop(key) for key in old]
        for idle in closing:
            _close(idle.connector)

    def close(self) -> None:
        """Close everything that isn't lent."""
        self.close_idle(older_than=0.0)

    def _take(self, key: bytes) -> FloecatConnector | None:
        self.close_idle()
        with self._lock:
            found = next((entry for entry in reversed(self._idle) if entry[0] == key), None)
            idle = self._idle.pop(found) if found else None
        if idle is None:
            return None
        if idle.expires_at is not None and idle.expires_at - _MARGIN < self._clock():
            _close(idle.connector)
            return None
        return idle.connector

    def _keep(self, key: bytes, idle: _Idle) -> None:
        with self._lock:
            self._idle[key, id(idle)] = idle
            excess = [self._idle.popitem(last=False)[1] for _ in range(len(self._idle) - _KEEP)]
        for other in excess:
            _close(other.connector)


def _close(connector: FloecatConnector) -> None:
    with suppress(Exception):  # what can't even be closed is of no more use, and does no more harm
        connector.close()
