"""When connectors run by themselves: kept in the store, so that a restart forgets nothing."""

from datetime import UTC, datetime
from typing import NamedTuple

from ai.floedb.floecat.reconciler.stored_pb2 import ConnectorSchedule
from floecat.errors import ConflictError
from floecat.reconciler import keys
from floecat.storage.kv.port import ABSENT, Expectation, KeyValueStore, Put


class Schedule(NamedTuple):
    """A connector's next run, and its last one."""

    next_run_at: datetime | None
    last_job_id: str
    expected: Expectation
    """What the next write expects, so that of two only one counts."""


class Schedules:
    """Schedules by connector."""

    def __init__(self, kv: KeyValueStore) -> None:
        self._kv = kv

    def get(self, account: str, connector_id: str) -> Schedule:
        """A connector's schedule; without a time if there is none yet."""
        record = self._kv.get(keys.schedule(account, connector_id))
        if record is None:
            return Schedule(None, "", ABSENT)
        stored = ConnectorSchedule.FromString(record.value)
        has_time = stored.HasField("next_run_at")
        moment = stored.next_run_at.ToDatetime(UTC) if has_time else None
        return Schedule(moment, stored.last_job_id, record.version)

    def put(
        self, account: str, connector_id: str, before: Schedule, next_run_at: datetime, job_id: str
    ) -> bool:
        """Write a schedule; False if somebody else did meanwhile."""
        stored = ConnectorSchedule(last_job_id=job_id)
        stored.next_run_at.FromDatetime(next_run_at)
        row = keys.schedule(account, connector_id)
        try:
            self._kv.commit([Put(row, stored.SerializeToString(), before.expected)])
        except ConflictError:
            return False
        return True
