"""Runs that nobody asks for: connectors by their policies, spread out, one tree at a time each."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from random import Random, SystemRandom
from typing import Final

import structlog

from ai.floedb.floecat.common import common_pb2
from ai.floedb.floecat.common.common_pb2 import IdempotencyKey
from ai.floedb.floecat.connector.connector_pb2 import CS_PAUSED, Connector
from ai.floedb.floecat.reconciler.reconciler_pb2 import (
    CaptureScope,
    ReconcilerSettings,
    StartCaptureRequest,
)
from floecat.catalog import keys as catalog_keys
from floecat.catalog.callers import Caller
from floecat.catalog.records import CatalogStores, Records
from floecat.errors import FloecatError
from floecat.reconciler.ownership import Ownership
from floecat.reconciler.runs import CaptureRuns
from floecat.reconciler.schedules import Schedules
from floecat.reconciler.settings import MIN_INTERVAL, ReconcilerSettingsRepository
from floecat.reconciler.store.port import ReconcileJobStore

_LOG: Final = structlog.get_logger(log="floecat.scheduler")
_PAGE: Final = 200
_JITTER: Final = 0.1
"""Intervals vary by this share, so that connectors made together drift apart."""
_SPREAD: Final = timedelta(minutes=1)
"""First runs, and runs missed while nobody scheduled, are spread over this long at most."""


@dataclass(frozen=True, slots=True)
class Scheduler:
    """Starts what is due. Any number of processes may have one; one of them works at a time."""

    stores: CatalogStores
    jobs: ReconcileJobStore
    runs: CaptureRuns
    settings: ReconcilerSettingsRepository
    ownership: Ownership
    chance: Random = field(default_factory=SystemRandom)
    seen: set[str] = field(default_factory=set)
    """Connectors that this process has looked at before."""

    def run_due(self) -> bool:
        """Look at every connector once. There is never more to do at once."""
        if self.ownership.hold():
            for account in self._accounts():
                self._run_account(account)
        return False

    def _run_account(self, account: str) -> None:
        settings = self.settings.get(account).settings
        wanted = [
            connector
            for connector in self._connectors(account)
            if _is_automatic(connector, settings)
        ]
        room = settings.max_parallel - sum(self._is_active(account, c) for c in wanted)
        # Who has waited longest goes first; otherwise some would never find room.
        for connector in sorted(wanted, key=lambda one: self._due_at(account, one)):
            if room > 0:
                room -= self._run_connector(account, connector, settings)

    def _due_at(self, account: str, connector: Connector) -> datetime:
        due = Schedules(self.stores.kv).get(account, connector.resource_id.id).next_run_at
        return due or datetime.min.replace(tzinfo=UTC)

    def _run_connector(
        self, account: str, connector: Connector, settings: ReconcilerSettings
    ) -> bool:
        """Start a connector's run if it is due; whether it was started."""
        schedules = Schedules(self.stores.kv)
        connector_id = connector.resource_id.id
        schedule = schedules.get(account, connector_id)
        now, interval = self.stores.clock(), _interval(connector, settings)
        due = schedule.next_run_at
        is_new = connector_id not in self.seen
        self.seen.add(connector_id)
        if due is None or (is_new and now - due > interval + _SPREAD):
            # Never run, or missed while nobody scheduled: not all of them at once.
            spread = min(interval, _SPREAD) * self.chance.random()
            schedules.put(account, connector_id, schedule, now + spread, schedule.last_job_id)
            return False
        if due > now or self._is_active(account, connector):
            return False
        job_id = self._start(account, connector, settings, due)
        varied = interval * (1 + _JITTER * (2 * self.chance.random() - 1))
        following = max(now + varied, now + MIN_INTERVAL)
        schedules.put(account, connector_id, schedule, following, job_id or schedule.last_job_id)
        return bool(job_id)

    def _start(
        self, account: str, connector: Connector, settings: ReconcilerSettings, due: datetime
    ) -> str:
        policy = connector.policy
        request = StartCaptureRequest(
            scope=CaptureScope(connector_id=connector.resource_id, snapshots=policy.snapshots),
            mode=policy.mode or settings.mode,
            # Started, but not written down: then the same start answers with the same job.
            idempotency=IdempotencyKey(key=f"{connector.resource_id.id}@{due.isoformat()}"),
        )
        try:
            return self.runs.start_by_policy(Caller(account, "scheduler"), request).job_id
        except FloecatError as error:
            _LOG.warning("not started", connector=connector.display_name, reason=error.message)
            return ""

    def _is_active(self, account: str, connector: Connector) -> bool:
        return self.jobs.reading.is_active(account, connector.resource_id.id)

    def _accounts(self) -> Iterator[str]:
        yield from (record for record in self._ids(catalog_keys.ACCOUNTS))

    def _connectors(self, account: str) -> Iterator[Connector]:
        connectors = Records(self.stores, common_pb2.RK_CONNECTOR, Connector)
        ids = list(self._ids(catalog_keys.connectors(account)))
        for start in range(0, len(ids), _PAGE):
            found = connectors.find_live(account, ids[start : start + _PAGE])
            yield from (connector for connector in found if connector is not None)

    def _ids(self, partition: str) -> Iterator[str]:
        after = None
        while page := self.stores.kv.scan(partition, after=after, limit=_PAGE):
            yield from (record.value.decode() for record in page)
            after = page[-1].key.sort


def _is_automatic(connector: Connector, settings: ReconcilerSettings) -> bool:
    if connector.state == CS_PAUSED:
        return False
    policy = connector.policy
    return policy.enabled if policy.HasField("enabled") else settings.auto_enabled


def _interval(connector: Connector, settings: ReconcilerSettings) -> timedelta:
    own = connector.policy.HasField("interval")
    interval = connector.policy.interval if own else settings.interval
    return max(interval.ToTimedelta(), MIN_INTERVAL)
