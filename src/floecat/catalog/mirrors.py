"""Which of our relations mirrors which of an upstream's.

A row per relation and connector says it, so that renaming or moving ours never makes a second one.
"""

import hashlib
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple, TypeVar

from ai.floedb.floecat.catalog.table_pb2 import Table
from ai.floedb.floecat.catalog.view_pb2 import View
from ai.floedb.floecat.common import common_pb2
from ai.floedb.floecat.reconciler.reconciler_pb2 import SourceRelation
from floecat.catalog import keys
from floecat.catalog.callers import Caller
from floecat.catalog.codec import Stored
from floecat.catalog.kinds import KIND_NAMES, Kind
from floecat.catalog.records import CatalogStores, Records
from floecat.catalog.tree import Tree
from floecat.errors import NotFoundError
from floecat.storage.kv.port import ANY, Delete, Key

M = TypeVar("M", Table, View)

_PAGE: Final = 500


class MirrorRow(NamedTuple):
    """Which of our relations mirrors one of an upstream."""

    key: Key
    kind: Kind
    relation_id: str


class Mirrors:
    """What mirrors one connector's relations."""

    def __init__(self, stores: CatalogStores, caller: Caller, connector_id: str) -> None:
        self._stores = stores
        self._caller = caller
        self._partition = keys.mirrors(caller.account_id, connector_id)
        self.tables = Records(stores, common_pb2.RK_TABLE, Table)
        self.views = Records(stores, common_pb2.RK_VIEW, View)
        self._tree = Tree(stores)
        self._homes: dict[str, bool] = {}

    def find_table(self, source: SourceRelation) -> Stored[Table] | None:
        """The table that mirrors a source."""
        return self._find(self.tables, source)

    def find_view(self, source: SourceRelation) -> Stored[View] | None:
        """The view that mirrors a source."""
        return self._find(self.views, source)

    def find_tables(self, sources: Sequence[SourceRelation]) -> list[Table | None]:
        """One table per source, in order; None for what isn't mirrored yet."""
        return self._find_many(self.tables, sources)

    def rows(self) -> Iterator[MirrorRow]:
        """Everything that mirrors something of this connector."""
        kinds = {KIND_NAMES[kind]: kind for kind in (common_pb2.RK_TABLE, common_pb2.RK_VIEW)}
        after = None
        while page := self._stores.kv.scan(self._partition, after=after, limit=_PAGE):
            for record in page:
                kind = kinds[record.key.sort.partition("/")[0]]
                yield MirrorRow(record.key, kind, record.value.decode())
            after = page[-1].key.sort

    def find_row(self, row: MirrorRow) -> Stored[Table] | Stored[View] | None:
        """What a row speaks of, if it is still there."""
        account = self._caller.account_id
        stored: Stored[Table] | Stored[View] | None
        if row.kind == common_pb2.RK_TABLE:
            stored = self.tables.find(account, row.relation_id)
        else:
            stored = self.views.find(account, row.relation_id)
        return None if stored is None or stored.deleting else stored

    def forget(self, row: MirrorRow) -> None:
        """What mirrored it is gone."""
        self._stores.kv.commit([Delete(row.key, ANY)])

    def row_of(self, kind: Kind, source: SourceRelation) -> Key:
        """Where it is written which relation mirrors a source."""
        return Key(self._partition, f"{KIND_NAMES[kind]}/{_digest(source)}")

    def _find(self, records: Records[M], source: SourceRelation) -> Stored[M] | None:
        row = self._stores.kv.get(self.row_of(records.kind, source))
        stored = records.find(self._caller.account_id, row.value.decode()) if row else None
        if stored is None or stored.deleting or not self._has_home(stored.message):
            return None
        return stored

    def _find_many(self, records: Records[M], sources: Sequence[SourceRelation]) -> list[M | None]:
        rows = self._stores.kv.get_many([self.row_of(records.kind, source) for source in sources])
        ids = [row.value.decode() for row in rows if row is not None]
        found = iter(records.find_live(self._caller.account_id, ids))
        relations = (None if row is None else next(found) for row in rows)
        return [
            relation if relation is not None and self._has_home(relation) else None
            for relation in relations
        ]

    def _has_home(self, relation: Table | View) -> bool:
        """Whether all above it is there: what was deleted with its catalog is no mirror."""
        namespace_id = relation.namespace_id.id
        if namespace_id not in self._homes:
            try:
                self._tree.namespace(self._caller.account_id, namespace_id)
                self._homes[namespace_id] = True
            except NotFoundError:
                self._homes[namespace_id] = False
        return self._homes[namespace_id]


def _digest(source: SourceRelation) -> str:
    """Names may hold any character, and be longer than a key: their hash is neither."""
    parts = [*source.namespace.segments, source.name]
    framed = b"".join(len(part.encode()).to_bytes(4, "big") + part.encode() for part in parts)
    return hashlib.sha256(framed).hexdigest()
