"""How many snapshots a job has recorded, over all of its attempts.

A service may die after it has recorded a history and before that is settled: the next attempt finds
nothing left to record. So each commit of a history counts itself.
"""

from datetime import timedelta
from typing import Final

from ai.floedb.floecat.reconciler.stored_pb2 import StoredJob
from floecat.catalog.records import CatalogStores
from floecat.reconciler import keys
from floecat.storage.kv.port import ABSENT, Operation, Put

_KEPT: Final = timedelta(days=1)
"""Longer than any job is tried."""


class RecordedSnapshots:
    """A job's count, in the store that its result is applied on."""

    def __init__(self, stores: CatalogStores, job: StoredJob) -> None:
        self._stores = stores
        self._row = keys.recorded(job.account_id, job.job_id)

    def count(self) -> int:
        """How many so far."""
        record = self._stores.kv.get(self._row)
        return int(record.value) if record else 0

    def more(self, recorded: int) -> tuple[Operation]:
        """What to commit with so many more."""
        record = self._stores.kv.get(self._row)
        total = recorded + (int(record.value) if record else 0)
        expected = record.version if record else ABSENT
        until = self._stores.clock() + _KEPT
        return (Put(self._row, str(total).encode(), expected, until),)
