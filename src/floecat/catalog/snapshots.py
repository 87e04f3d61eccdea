"""Snapshots of a table: immutable, named by the upstream's id, ordered by the upstream's time."""

from collections.abc import Iterator

from ai.floedb.floecat.catalog.snapshot_pb2 import (
    CreateSnapshotRequest,
    CreateSnapshotResponse,
    DeleteSnapshotRequest,
    DeleteSnapshotResponse,
    ListSnapshotsRequest,
    ReadSnapshotAttachmentRequest,
    Snapshot,
    SnapshotSpec,
)
from ai.floedb.floecat.common import common_pb2
from ai.floedb.floecat.common.common_pb2 import ResourceId, SnapshotRef
from floecat.catalog import keys
from floecat.catalog.attachments import (
    Attachments,
    KeptAttachments,
    check_attachments,
    infos_of,
)
from floecat.catalog.callers import Caller, resource_id
from floecat.catalog.children import adopted
from floecat.catalog.codec import Stored
from floecat.catalog.masks import copy_shared_fields
from floecat.catalog.mutations import Change, Mutations, check_precondition
from floecat.catalog.paging import Page, page_cursor
from floecat.catalog.records import CatalogStores, first_meta
from floecat.catalog.tables import TableRepository, addressed_table
from floecat.catalog.timeline import SnapshotIndex, check_time, moment_of
from floecat.errors import AlreadyExistsError, NotFoundError
from floecat.storage.kv.port import ABSENT, ANY, Delete, Key, Put


class SnapshotRepository:
    """Snapshots by id, by time, and by reference."""

    def __init__(self, stores: CatalogStores) -> None:
        self._stores = stores
        self._tables = TableRepository(stores)
        self._index = SnapshotIndex(stores)
        self._attachments = Attachments(stores.codec)
        self._mutations = Mutations(stores)

    def list(self, caller: Caller, request: ListSnapshotsRequest) -> Page[Snapshot]:
        """A page of a table's snapshots, newest first, without attachments."""
        table = self._tables.get(caller, request.table_id).message
        cursor = page_cursor(request.page, "snapshots", caller.account_id, table.resource_id.id)
        return self._index.list(caller.account_id, table.resource_id.id, cursor)

    def get(self, caller: Caller, table_id: ResourceId, ref: SnapshotRef) -> Stored[Snapshot]:
        """The snapshot a reference means now, with its attachments where they fit."""
        stored = self.resolve(caller, table_id, ref)
        return Stored(self._attachments.shown(stored), stored.meta, stored.version)

    def resolve(self, caller: Caller, table_id: ResourceId, ref: SnapshotRef) -> Stored[Snapshot]:
        """The snapshot a reference means now."""
        return self._index.resolve(self._tables.get(caller, table_id).message, ref)

    def is_finalized(self, caller: Caller, table_id: ResourceId, snapshot_id: int) -> bool:
        """Whether the snapshot's capture is complete and published."""
        return self._index.is_finalized(caller.account_id, table_id.id, snapshot_id)

    def read_attachment(
        self, caller: Caller, request: ReadSnapshotAttachmentRequest
    ) -> Iterator[bytes]:
        """One attachment's bytes, in pieces."""
        ref = SnapshotRef(snapshot_id=request.snapshot_id)
        pieces = self._attachments.read(self.resolve(caller, request.table_id, ref), request.name)
        if pieces is None:
            raise NotFoundError(
                f"snapshot {request.snapshot_id} has no attachment {request.name!r}",
                reason="ATTACHMENT_NOT_FOUND",
            )
        return pieces

    def create(self, caller: Caller, request: CreateSnapshotRequest) -> CreateSnapshotResponse:
        """Record a snapshot under the upstream's id."""
        spec, account = request.spec, caller.account_id
        table_id = addressed_table(caller, spec.table_id)
        check_time(spec.upstream_created_at, "spec.upstream_created_at")
        check_attachments(spec.attachments)
        kept = self._attachments.keep(account, spec.attachments)

        def change() -> Change[CreateSnapshotResponse]:
            table = self._tables.get(caller, spec.table_id)
            if self._index.find(account, table_id, spec.snapshot_id):
                raise AlreadyExistsError(
                    f"snapshot {spec.snapshot_id} is recorded already", reason="SNAPSHOT_EXISTS"
                )
            named = resource_id(account, common_pb2.RK_TABLE, table_id)
            message = snapshot_message(self._stores, named, spec, kept)
            meta = first_meta(message, message.ingested_at)
            value = self._stores.codec.encode(account, message, meta, attachments=kept.blobs)
            at = keys.at_moment(moment_of(message), spec.snapshot_id)
            shown = self._attachments.shown(Stored(message, meta, 0, attachments=kept.blobs))
            parent = (common_pb2.RK_TABLE, table_id, table.version)
            return Change(
                (
                    Put(keys.snapshot(account, table_id, spec.snapshot_id), value, ABSENT),
                    Put(Key(keys.timeline(account, table_id), at), b"", ABSENT),
                    *adopted(account, parent, str(spec.snapshot_id)),
                ),
                CreateSnapshotResponse(snapshot=shown, meta=meta),
            )

        return self._mutations.run(caller, request, CreateSnapshotResponse, change)

    def delete(self, caller: Caller, request: DeleteSnapshotRequest) -> DeleteSnapshotResponse:
        """Remove a snapshot with its constraints, and what was captured of it."""
        account = caller.account_id
        table_id = addressed_table(caller, request.table_id)
        ref = SnapshotRef(snapshot_id=request.snapshot_id)

        def change() -> Change[DeleteSnapshotResponse]:
            stored = self.resolve(caller, request.table_id, ref)
            check_precondition(request.precondition, stored.meta)
            at = keys.at_moment(moment_of(stored.message), request.snapshot_id)
            record = keys.snapshot(account, table_id, request.snapshot_id)
            return Change(
                (
                    Delete(record, stored.version),
                    Delete(Key(keys.timeline(account, table_id), at), ANY),
                    Delete(Key(keys.constraints(account, table_id), at), ANY),
                    Delete(keys.final(account, table_id, request.snapshot_id), ANY),
                    *(
                        Delete(overlay, ANY)
                        for overlay in keys.overlays_of(account, table_id, request.snapshot_id)
                    ),
                ),
                DeleteSnapshotResponse(meta=stored.meta),
            )

        return self._mutations.run(caller, request, DeleteSnapshotResponse, change)


def snapshot_message(
    stores: CatalogStores, table_id: ResourceId, spec: SnapshotSpec, kept: KeptAttachments
) -> Snapshot:
    """The record of a snapshot that is seen for the first time."""
    message = Snapshot(ingested_at=stores.now())
    copy_shared_fields(spec, message)
    message.table_id.CopyFrom(table_id)
    if not message.HasField("upstream_created_at"):
        message.upstream_created_at.CopyFrom(message.ingested_at)
    message.attachment_infos.extend(infos_of(spec.attachments))
    message.ClearField("attachments")
    message.attachments.update(kept.inline)
    return message
