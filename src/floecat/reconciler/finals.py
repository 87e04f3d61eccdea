"""Which published capture a new one begins with."""

from typing import Final

from ai.floedb.floecat.reconciler.stored_pb2 import FinalSnapshot
from floecat.catalog import keys
from floecat.storage.kv.port import KeyValueStore, Record

_PAGE: Final = 100


class FinalSnapshots:
    """Reads the records of published captures."""

    def __init__(self, kv: KeyValueStore) -> None:
        self._kv = kv

    def find(self, account: str, table_id: str, snapshot_id: int) -> FinalSnapshot | None:
        """The capture to use again: this very snapshot's, else the newest one of the table."""
        record = self._kv.get(keys.final(account, table_id, snapshot_id))
        return _usable(record) or self._find_newest(account, table_id)

    def _find_newest(self, account: str, table_id: str) -> FinalSnapshot | None:
        if not self._kv.scan(keys.finals(account, table_id), limit=1):
            return None
        partition, after = keys.timeline(account, table_id), None
        while page := self._kv.scan(partition, after=after, limit=_PAGE, reverse=True):
            ids = [keys.snapshot_at(row.key.sort) for row in page]
            for record in self._kv.get_many([keys.final(account, table_id, i) for i in ids]):
                if found := _usable(record):
                    return found
            after = page[-1].key.sort
        return None


def _usable(record: Record | None) -> FinalSnapshot | None:
    final = None if record is None else FinalSnapshot.FromString(record.value)
    # A record of before there were indexes says only that the snapshot was covered.
    return final if final is not None and final.index.uri else None
