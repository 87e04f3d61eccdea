"""A table's snapshots in order of time, and what a reference to one of them means."""

from typing import Final

from google.protobuf.timestamp_pb2 import Timestamp

from ai.floedb.floecat.catalog.snapshot_pb2 import Snapshot
from ai.floedb.floecat.catalog.table_pb2 import Table
from ai.floedb.floecat.common import common_pb2
from ai.floedb.floecat.common.common_pb2 import SnapshotRef
from floecat.catalog import keys
from floecat.catalog.codec import Stored
from floecat.catalog.paging import Page, PageCursor, first_fitting
from floecat.catalog.records import CatalogStores
from floecat.errors import FailedPreconditionError, InvalidArgumentError, NotFoundError
from floecat.storage.kv.port import Record

_EARLIEST_SECOND: Final = -62_135_596_800
_LATEST_SECOND: Final = 253_402_300_799


def check_time(time: Timestamp, field: str) -> None:
    """Refuse what isn't a time between the years 1 and 9999."""
    in_range = _EARLIEST_SECOND <= time.seconds <= _LATEST_SECOND
    if not in_range or not 0 <= time.nanos < 1_000_000_000:
        raise InvalidArgumentError(f"{field} isn't between the years 1 and 9999", field=field)


def moment_of(snapshot: Snapshot) -> int:
    """When the upstream made a snapshot, in nanoseconds since 1970."""
    return timestamp_moment(snapshot.upstream_created_at)


def timestamp_moment(time: Timestamp) -> int:
    """A time in nanoseconds since 1970."""
    return time.seconds * 1_000_000_000 + time.nanos


class SnapshotIndex:
    """Reads snapshots of a table that is known to exist."""

    def __init__(self, stores: CatalogStores) -> None:
        self._kv = stores.kv
        self._codec = stores.codec

    def find(self, account: str, table_id: str, snapshot_id: int) -> Stored[Snapshot] | None:
        """A snapshot by the upstream's id."""
        record = self._kv.get(keys.snapshot(account, table_id, snapshot_id))
        return self._codec.decode(record, Snapshot) if record else None

    def list(self, account: str, table_id: str, cursor: PageCursor) -> Page[Snapshot]:
        """A page of snapshots, newest first, without attachments."""
        partition = keys.timeline(account, table_id)
        moments = self._kv.scan(partition, after=cursor.after, limit=cursor.size + 1, reverse=True)
        shown = [moment.key.sort for moment in moments[: cursor.size]]
        ids = [keys.snapshot_at(sort) for sort in shown]
        records = self._kv.get_many([keys.snapshot(account, table_id, i) for i in ids])
        found, cut = first_fitting(
            self._without_attachments(record) for record in records if record
        )
        if cut:
            at = keys.at_moment(moment_of(found[-1]), found[-1].snapshot_id)
            return Page(found, cursor.token(at))
        return Page(found, cursor.token(shown[-1]) if len(moments) > cursor.size else "")

    def _without_attachments(self, record: Record) -> Snapshot:
        snapshot = self._codec.decode(record, Snapshot).message
        snapshot.ClearField("attachments")
        return snapshot

    def resolve(self, table: Table, ref: SnapshotRef) -> Stored[Snapshot]:
        """What a reference means now. NotFoundError if nothing."""
        account, table_id = table.resource_id.account_id, table.resource_id.id
        stored = self._find_referred(table, ref)
        if stored is None:
            raise NotFoundError(
                f"table {table.display_name!r} has no {_referred(table, ref)}: "
                "'floecat snapshot list' (ListSnapshots) shows those it has",
                reason="SNAPSHOT_NOT_FOUND",
                metadata={"table_id": table_id},
            )
        snapshot_id = stored.message.snapshot_id
        if ref.finalized_only and not self.is_finalized(account, table_id, snapshot_id):
            raise FailedPreconditionError(
                f"snapshot {snapshot_id} isn't finalized: capture it first "
                "(floecat connector trigger --mode metadata-and-capture)",
                reason="SNAPSHOT_NOT_FINALIZED",
                metadata={"snapshot_id": str(snapshot_id)},
            )
        return stored

    def is_finalized(self, account: str, table_id: str, snapshot_id: int) -> bool:
        """Whether the snapshot's capture is complete and published."""
        return self._kv.get(keys.final(account, table_id, snapshot_id)) is not None

    def _find_referred(self, table: Table, ref: SnapshotRef) -> Stored[Snapshot] | None:
        account, table_id = table.resource_id.account_id, table.resource_id.id
        match ref.WhichOneof("which"):
            case "snapshot_id":
                return self.find(account, table_id, ref.snapshot_id)
            case "as_of":
                check_time(ref.as_of, "snapshot.as_of")
                return self._newest(account, table_id, before=timestamp_moment(ref.as_of) + 1)
        if ref.special not in (common_pb2.SS_UNSPECIFIED, common_pb2.SS_CURRENT):
            raise InvalidArgumentError("unknown special snapshot", field="snapshot.special")
        if table.HasField("current_snapshot_id"):
            # Not the newest in its place: after a rollback upstream that would be another state.
            return self.find(account, table_id, table.current_snapshot_id)
        return self._newest(account, table_id)

    def _newest(
        self, account: str, table_id: str, before: int | None = None
    ) -> Stored[Snapshot] | None:
        after = None if before is None else keys.moment(before)
        newest = self._kv.scan(keys.timeline(account, table_id), after=after, limit=1, reverse=True)
        if not newest:
            return None
        return self.find(account, table_id, keys.snapshot_at(newest[0].key.sort))


def _referred(table: Table, ref: SnapshotRef) -> str:
    """What was asked for, in words."""
    match ref.WhichOneof("which"):
        case "snapshot_id":
            return f"snapshot {ref.snapshot_id}"
        case "as_of":
            return f"snapshot as of {ref.as_of.ToJsonString()}"
    if table.HasField("current_snapshot_id"):
        return f"snapshot {table.current_snapshot_id}, which is its current one"
    return "snapshots yet"
