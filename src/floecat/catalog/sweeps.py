"""Finishing deletions: what was hidden in one commit is removed here, in pages, restartably.

A `sweep` row stands for a resource that nobody sees any more. Sweeping one hides its children, each
with a row of its own, and removes it once it has none; stopped anywhere, the rows that are left say
what is left to do.
"""

from collections.abc import Iterator, Sequence
from typing import Final, Protocol

from ai.floedb.floecat.common import common_pb2
from floecat.catalog import keys
from floecat.catalog.children import find_childless
from floecat.catalog.kinds import KINDS_BY_NAME, MESSAGE_TYPES, Kind
from floecat.catalog.records import CatalogStores, Records
from floecat.errors import ConflictError
from floecat.storage.kv.port import (
    ANY,
    MAX_OPERATIONS,
    Delete,
    Key,
    KeyValueStore,
    Operation,
    Put,
    Record,
)

_PAGE: Final = 16
"""Children per commit: a few operations and up to 64 KiB each, within a commit's limits."""


_CHILDLESS: Final = frozenset({common_pb2.RK_VIEW, common_pb2.RK_CONNECTOR})
"""Nothing lies below them, so hiding one is deleting it."""


class Dependents(Protocol):
    """Something that is attached to resources and goes with them."""

    def sweep(self, account: str, kind: Kind, identifier: str) -> bool:
        """Remove a page of what is attached; whether nothing is left. Restartable."""
        ...


class SnapshotSweep:
    """Removes a deleted table's snapshots, with their constraints."""

    def __init__(self, kv: KeyValueStore) -> None:
        self._kv = kv

    def sweep(self, account: str, kind: Kind, identifier: str) -> bool:
        """Remove a page of snapshots."""
        return kind != common_pb2.RK_TABLE or self._sweep_table(account, identifier)

    def _sweep_table(self, account: str, table_id: str) -> bool:
        moments = self._kv.scan(keys.timeline(account, table_id), limit=_PAGE)
        operations: list[Operation] = []
        for moment in moments:
            snapshot_id = keys.snapshot_at(moment.key.sort)
            operations += [
                Delete(moment.key, ANY),
                Delete(keys.snapshot(account, table_id, snapshot_id), ANY),
                Delete(Key(keys.constraints(account, table_id), moment.key.sort), ANY),
                Delete(keys.final(account, table_id, snapshot_id), ANY),
            ]
        self._kv.commit(operations)
        return len(moments) < _PAGE


class OverlaySweep:
    """Removes what clients wrote about a deleted table, of snapshots that never came too."""

    def __init__(self, kv: KeyValueStore) -> None:
        self._kv = kv

    def sweep(self, account: str, kind: Kind, identifier: str) -> bool:
        """Remove a page of it."""
        if kind != common_pb2.RK_TABLE:
            return True
        rows = self._kv.scan(keys.overlays(account, identifier), limit=_PAGE)
        self._kv.commit([Delete(row.key, ANY) for row in rows])
        return len(rows) < _PAGE


class MirrorSweep:
    """Removes what is known of a deleted connector's relations. What mirrored them stays."""

    def __init__(self, kv: KeyValueStore) -> None:
        self._kv = kv

    def sweep(self, account: str, kind: Kind, identifier: str) -> bool:
        """Remove a page of rows."""
        if kind != common_pb2.RK_CONNECTOR:
            return True
        rows = self._kv.scan(keys.mirrors(account, identifier), limit=MAX_OPERATIONS)
        self._kv.commit([Delete(row.key, ANY) for row in rows])
        return len(rows) < MAX_OPERATIONS


class Sweeper:
    """Works off the sweep rows. Any number may run at once; each page is one commit."""

    def __init__(self, stores: CatalogStores, dependents: Sequence[Dependents] = ()) -> None:
        self._kv = stores.kv
        self._records = {k: Records(stores, k, message) for k, message in MESSAGE_TYPES.items()}
        self._dependents: tuple[Dependents, ...] = (
            SnapshotSweep(stores.kv),
            OverlaySweep(stores.kv),
            MirrorSweep(stores.kv),
            *dependents,
        )

    def sweep(self) -> int:
        """Take one step on every row there is; how many rows are left."""
        left = 0
        for row in self._rows():
            account, kind, identifier = row.key.sort.split("/")
            try:
                finished = self._step(row.key, account, KINDS_BY_NAME[kind], identifier)
            except ConflictError:
                # Somebody changed a child meanwhile; the row stays, and so does the work.
                finished = False
            left += not finished
        return left

    def sweep_all(self) -> None:
        """Sweep until nothing is left."""
        while self.sweep():
            pass

    def _rows(self) -> Iterator[Record]:
        for partition in keys.sweeps():
            after = None
            while records := self._kv.scan(partition, after=after, limit=100):
                yield from records
                after = records[-1].key.sort

    def _step(self, row: Key, account: str, kind: Kind, identifier: str) -> bool:
        stored = self._records[kind].find(account, identifier)
        if stored is None:
            if not self._detach(account, kind, identifier):
                return False
            self._kv.commit([Delete(row, ANY)])
            return True
        children = _child_partitions(account, kind, identifier)
        for child_kind, partition in children:
            if self._hide_page(account, child_kind, partition):
                return False
        if not self._detach(account, kind, identifier):
            return False
        partitions = [partition for _, partition in children]
        guards = find_childless(self._kv, account, identifier, partitions)
        if guards is None:
            return False
        record = Delete(keys.resource(account, kind, identifier), stored.version)
        self._kv.commit([record, *guards, Delete(row, ANY)])
        return True

    def _detach(self, account: str, kind: Kind, identifier: str) -> bool:
        done = [dependent.sweep(account, kind, identifier) for dependent in self._dependents]
        return all(done)

    def _hide_page(self, account: str, kind: Kind, partition: str) -> bool:
        """Hide some children and leave each to a row of its own; whether there were any."""
        names = self._kv.scan(partition, limit=_PAGE)
        operations: list[Operation] = []
        for name in names:
            operations += self._hidden(account, kind, name)
        self._kv.commit(operations)
        return bool(names)

    def _hidden(self, account: str, kind: Kind, name: Record) -> list[Operation]:
        # The name is expected as it was read: a child that has moved away since isn't ours.
        identifier = name.value.decode()
        operations: list[Operation] = [Delete(name.key, name.version)]
        stored = self._records[kind].find(account, identifier)
        if stored is not None and kind in _CHILDLESS:
            operations.append(Delete(keys.resource(account, kind, identifier), stored.version))
            if kind == common_pb2.RK_CONNECTOR:
                operations.append(Put(keys.sweep(account, kind, identifier), b"", ANY))
        elif stored is not None:
            operations.append(self._records[kind].mark_deleting(account, stored))
            operations.append(Put(keys.sweep(account, kind, identifier), b"", ANY))
        return operations


def _child_partitions(account: str, kind: Kind, identifier: str) -> list[tuple[Kind, str]]:
    match kind:
        case common_pb2.RK_ACCOUNT:
            return [
                (common_pb2.RK_CATALOG, keys.catalogs(identifier)),
                (common_pb2.RK_CONNECTOR, keys.connectors(identifier)),
            ]
        case common_pb2.RK_CATALOG:
            return [(common_pb2.RK_NAMESPACE, keys.namespaces(account, identifier))]
        case common_pb2.RK_NAMESPACE:
            return [
                (common_pb2.RK_NAMESPACE, keys.namespaces(account, identifier)),
                (common_pb2.RK_TABLE, keys.tables(account, identifier)),
                (common_pb2.RK_VIEW, keys.views(account, identifier)),
            ]
        case _:
            return []
