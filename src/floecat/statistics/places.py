"""Which snapshot a request means: a recorded one, or one that only statistics were put of."""

from ai.floedb.floecat.common.common_pb2 import ResourceId, SnapshotRef
from floecat.catalog import keys
from floecat.catalog.callers import Caller
from floecat.catalog.records import CatalogStores
from floecat.catalog.tables import TableRepository
from floecat.catalog.timeline import SnapshotIndex
from floecat.errors import NotFoundError
from floecat.statistics.store import SnapshotPlace


class SnapshotPlaces:
    """Finds snapshots for callers."""

    def __init__(self, stores: CatalogStores) -> None:
        self._kv = stores.kv
        self._tables = TableRepository(stores)
        self._index = SnapshotIndex(stores)

    def of(self, caller: Caller, table_id: ResourceId, ref: SnapshotRef) -> SnapshotPlace:
        """The snapshot that a reference means now. NotFoundError if there is none."""
        table = self._tables.get(caller, table_id).message
        try:
            snapshot_id = self._index.resolve(table, ref).message.snapshot_id
        except NotFoundError:
            # Statistics may come before the snapshot does.
            if not self._has_overlay(caller, table_id.id, ref):
                raise
            snapshot_id = ref.snapshot_id
        return SnapshotPlace(caller.account_id, table_id.id, snapshot_id)

    def _has_overlay(self, caller: Caller, table_id: str, ref: SnapshotRef) -> bool:
        if ref.WhichOneof("which") != "snapshot_id" or ref.finalized_only:
            return False
        written = keys.overlays_of(caller.account_id, table_id, ref.snapshot_id)
        return any(self._kv.get_many(written))
