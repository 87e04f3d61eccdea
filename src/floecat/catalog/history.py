"""A table's history as an upstream tells it: many snapshots at once, each with its constraints."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple, TypeAlias

from ai.floedb.floecat.catalog.constraints_pb2 import TableConstraints
from ai.floedb.floecat.catalog.snapshot_pb2 import DeleteSnapshotRequest, Snapshot, SnapshotSpec
from ai.floedb.floecat.catalog.table_pb2 import ColumnId
from ai.floedb.floecat.common import common_pb2
from floecat.catalog import keys
from floecat.catalog.attachments import Attachments, check_attachments
from floecat.catalog.bundles import checked
from floecat.catalog.callers import Caller, resource_id
from floecat.catalog.children import adopted
from floecat.catalog.records import CatalogStores, first_meta
from floecat.catalog.snapshots import SnapshotRepository, snapshot_message
from floecat.catalog.tables import TableRepository
from floecat.catalog.timeline import SnapshotIndex, check_time, moment_of
from floecat.errors import ConflictError, ContentionError, NotFoundError
from floecat.storage.kv.port import ABSENT, ANY, Key, Operation, Put

_PER_COMMIT: Final = 24
"""Three operations each, and the guards: a commit has a hundred."""
_BYTES_PER_COMMIT: Final = 1024 * 1024
_ATTEMPTS: Final = 64
_PAGE: Final = 500


Tally: TypeAlias = Callable[[int], Sequence[Operation]]
"""What to write down with so many snapshots, if that is to survive whatever comes after."""


def _no_tally(_recorded: int) -> Sequence[Operation]:
    return ()


class _Prepared(NamedTuple):
    """A snapshot ready to be committed."""

    snapshot_id: int
    operations: tuple[Put, ...]
    size: int


class SnapshotHistory:
    """Records and drops snapshots of one table in pages. What is there already stays as it is."""

    def __init__(self, stores: CatalogStores, caller: Caller, table_id: str) -> None:
        self._stores = stores
        self._caller = caller
        self._table = resource_id(caller.account_id, common_pb2.RK_TABLE, table_id)
        self._tables = TableRepository(stores)
        self._index = SnapshotIndex(stores)
        self._attachments = Attachments(stores.codec)

    def moments(self) -> Iterator[tuple[str, int]]:
        """Every recorded snapshot's id with what it is ordered by, oldest first."""
        partition = keys.timeline(self._caller.account_id, self._table.id)
        after = None
        while page := self._stores.kv.scan(partition, after=after, limit=_PAGE):
            yield from ((row.key.sort, keys.snapshot_at(row.key.sort)) for row in page)
            after = page[-1].key.sort

    def finalized_ids(self) -> Iterator[int]:
        """Every snapshot whose capture is published."""
        partition = keys.finals(self._caller.account_id, self._table.id)
        after = None
        while page := self._stores.kv.scan(partition, after=after, limit=_PAGE):
            yield from (int(row.key.sort) for row in page)
            after = page[-1].key.sort

    def has(self, snapshot_id: int) -> bool:
        """Whether a snapshot is recorded."""
        record = keys.snapshot(self._caller.account_id, self._table.id, snapshot_id)
        return self._stores.kv.get(record) is not None

    def record(
        self,
        specs: Iterable[SnapshotSpec],
        constraints: Mapping[int, TableConstraints],
        tally: Tally = _no_tally,
        columns: Mapping[int, Sequence[ColumnId]] | None = None,
    ) -> int:
        """Record what isn't there yet; how many that were. Each commit has its tally in it.

        `columns` are the ids of snapshots' columns, where the format has none.
        """
        recorded = 0
        page: list[_Prepared] = []
        for spec in specs:
            numbered = (columns or {}).get(spec.snapshot_id, ())
            prepared = self._prepared(spec, constraints.get(spec.snapshot_id), numbered)
            size = prepared.size + sum(other.size for other in page)
            if page and (len(page) == _PER_COMMIT or size > _BYTES_PER_COMMIT):
                recorded += self._commit(page, tally)
                page = []
            page.append(prepared)
        return recorded + (self._commit(page, tally) if page else 0)

    def drop(self, snapshot_ids: Iterable[int]) -> int:
        """Remove snapshots with what belongs to them; how many there were."""
        snapshots = SnapshotRepository(self._stores)
        dropped = 0
        for snapshot_id in snapshot_ids:
            request = DeleteSnapshotRequest(table_id=self._table, snapshot_id=snapshot_id)
            try:
                snapshots.delete(self._caller, request)
            except NotFoundError:
                continue
            dropped += 1
        return dropped

    def _prepared(
        self,
        spec: SnapshotSpec,
        constraints: TableConstraints | None,
        columns: Sequence[ColumnId],
    ) -> _Prepared:
        account = self._caller.account_id
        check_time(spec.upstream_created_at, "spec.upstream_created_at")
        check_attachments(spec.attachments)
        kept = self._attachments.keep(account, spec.attachments)
        message = snapshot_message(self._stores, self._table, spec, kept)
        message.column_ids.extend(columns)
        meta = first_meta(message, message.ingested_at)
        value = self._stores.codec.encode(account, message, meta, attachments=kept.blobs)
        at = keys.at_moment(moment_of(message), spec.snapshot_id)
        puts = [
            Put(keys.snapshot(account, self._table.id, spec.snapshot_id), value, ABSENT),
            Put(Key(keys.timeline(account, self._table.id), at), b"", ABSENT),
        ]
        if constraints is not None and constraints.constraints:
            puts.append(self._constraints(constraints, message, at))
        return _Prepared(spec.snapshot_id, tuple(puts), sum(len(put.value) for put in puts))

    def _constraints(self, given: TableConstraints, snapshot: Snapshot, at: str) -> Put:
        account = self._caller.account_id
        bundle = checked(given)
        bundle.table_id.CopyFrom(self._table)
        bundle.snapshot_id = snapshot.snapshot_id
        value = self._stores.codec.encode(account, bundle, first_meta(bundle, self._stores.now()))
        return Put(Key(keys.constraints(account, self._table.id), at), value, ANY)

    def _commit(self, page: Sequence[_Prepared], tally: Tally) -> int:
        """Commit those that aren't there; again if somebody came between."""
        for _ in range(_ATTEMPTS):
            table = self._tables.get(self._caller, self._table)
            missing = self._missing(page)
            if not missing:
                return 0
            parent = (common_pb2.RK_TABLE, self._table.id, table.version)
            try:
                counted = tally(len(missing))
                self._stores.kv.commit([*self._operations(missing, parent), *counted])
            except ConflictError:
                continue
            return len(missing)
        raise ContentionError("too many concurrent changes to the same table: try again")

    def _missing(self, page: Sequence[_Prepared]) -> list[_Prepared]:
        account = self._caller.account_id
        wanted = [keys.snapshot(account, self._table.id, part.snapshot_id) for part in page]
        found = self._stores.kv.get_many(wanted)
        return [part for part, record in zip(page, found, strict=True) if record is None]

    def _operations(
        self, page: Sequence[_Prepared], parent: tuple[common_pb2.ResourceKind.ValueType, str, int]
    ) -> list[Operation]:
        guards: dict[Key, Operation] = {}
        for part in page:
            for operation in adopted(self._caller.account_id, parent, str(part.snapshot_id)):
                guards[operation.key] = operation
        return [*guards.values(), *(put for part in page for put in part.operations)]
