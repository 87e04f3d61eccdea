"""Which published capture a new one begins with."""

from typing import Final, NamedTuple

from ai.floedb.floecat.catalog.snapshot_pb2 import Snapshot
from ai.floedb.floecat.reconciler.stored_pb2 import FinalSnapshot
from floecat.catalog import keys
from floecat.catalog.timeline import moment_of
from floecat.storage.kv.port import KeyValueStore, Record

_PAGE: Final = 100


class _Near(NamedTuple):
    """A published capture, and how many snapshots away it is."""

    distance: int
    final: FinalSnapshot


class FinalSnapshots:
    """Reads the records of published captures."""

    def __init__(self, kv: KeyValueStore) -> None:
        self._kv = kv

    def find(self, account: str, snapshot: Snapshot) -> FinalSnapshot | None:
        """The capture that likely covers most of a snapshot's files.

        That is its own, if it was captured before; else the nearest in time, the newer of two. For
        a snapshot that was made just now it is the newest; and when a table's history is captured,
        each begins with its neighbour.
        """
        table_id = snapshot.table_id.id
        own = _usable(self._kv.get(keys.final(account, table_id, snapshot.snapshot_id)))
        if own is not None or not self._kv.scan(keys.finals(account, table_id), limit=1):
            return own
        at = keys.at_moment(moment_of(snapshot), snapshot.snapshot_id)
        sides = (self._nearest(account, table_id, at, older=older) for older in (False, True))
        found = [near for near in sides if near is not None]
        return min(found, key=lambda near: near.distance).final if found else None

    def _nearest(self, account: str, table_id: str, at: str, *, older: bool) -> _Near | None:
        partition = keys.timeline(account, table_id)
        distance = 0
        while page := self._kv.scan(partition, after=at, limit=_PAGE, reverse=older):
            ids = [keys.snapshot_at(row.key.sort) for row in page]
            for record in self._kv.get_many([keys.final(account, table_id, i) for i in ids]):
                distance += 1
                if final := _usable(record):
                    return _Near(distance, final)
            at = page[-1].key.sort
        return None


def _usable(record: Record | None) -> FinalSnapshot | None:
    final = None if record is None else FinalSnapshot.FromString(record.value)
    # A record of before there were indexes says only that the snapshot was covered.
    return final if final is not None and final.index.uri else None
