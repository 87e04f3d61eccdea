"""What an upstream doesn't have any more: hidden at once, kept for a week, then deleted."""

from datetime import UTC, timedelta
from typing import Final

from ai.floedb.floecat.catalog.table_pb2 import US_GONE, DeleteTableRequest, UpstreamRef
from ai.floedb.floecat.catalog.view_pb2 import DeleteViewRequest
from ai.floedb.floecat.common import common_pb2
from ai.floedb.floecat.common.common_pb2 import ResourceId
from ai.floedb.floecat.reconciler.reconciler_pb2 import SourceRelation
from floecat.catalog.callers import Caller
from floecat.catalog.kinds import Kind
from floecat.catalog.mirroring import Mirroring
from floecat.catalog.mirrors import MirrorRow
from floecat.catalog.records import CatalogStores
from floecat.catalog.tables import TableRepository
from floecat.catalog.views import ViewRepository

KEPT: Final = timedelta(days=7)


class Departures:
    """Compares what a run over a whole connector saw with what is mirrored."""

    def __init__(self, stores: CatalogStores, caller: Caller, connector_id: str) -> None:
        self._stores = stores
        self._caller = caller
        self._mirroring = Mirroring(stores, caller, connector_id)
        self._mirrors = self._mirroring.mirrors
        self._seen: set[str] = set()

    def seen(self, kind: Kind, source: SourceRelation) -> None:
        """The upstream has it."""
        self._seen.add(self._mirrors.row_of(kind, source).sort)

    def mark(self) -> int:
        """Mark what wasn't seen as gone, and delete what has been gone for long; how many."""
        unseen = (row for row in self._mirrors.rows() if row.key.sort not in self._seen)
        return sum(self._leave(row) for row in unseen)

    def _leave(self, row: MirrorRow) -> bool:
        stored = self._mirrors.find_row(row)
        if stored is None:
            self._mirrors.forget(row)
            return False
        if not self._is_due(stored.message.upstream):
            return self._mirroring.mark_gone(stored)
        self._delete(stored.message.resource_id)
        self._mirrors.forget(row)
        return True

    def _delete(self, relation_id: ResourceId) -> None:
        if relation_id.kind == common_pb2.RK_TABLE:
            gone = DeleteTableRequest(table_id=relation_id)
            TableRepository(self._stores).delete(self._caller, gone)
        else:
            view = DeleteViewRequest(view_id=relation_id)
            ViewRepository(self._stores).delete(self._caller, view)

    def _is_due(self, upstream: UpstreamRef) -> bool:
        since = upstream.gone_since.ToDatetime(UTC)
        return upstream.state == US_GONE and self._stores.clock() - since >= KEPT
