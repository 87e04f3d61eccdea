"""Attachments that come in pieces, because a message couldn't hold them."""

from collections.abc import Iterator
from typing import Final

from ai.floedb.floecat.catalog.snapshot_pb2 import (
    AttachmentInfo,
    Snapshot,
    WriteSnapshotAttachmentRequest,
    WriteSnapshotAttachmentResponse,
)
from ai.floedb.floecat.common import common_pb2
from ai.floedb.floecat.common.common_pb2 import BlobReference, SnapshotRef
from floecat.catalog import keys
from floecat.catalog.attachments import Attachments, check_count
from floecat.catalog.callers import Caller
from floecat.catalog.codec import Stored
from floecat.catalog.mutations import Change, Mutations, check_precondition
from floecat.catalog.names import cleaned_name
from floecat.catalog.records import CatalogStores, next_meta
from floecat.catalog.replay import is_remembered
from floecat.catalog.tables import TableRepository, addressed_table
from floecat.catalog.timeline import SnapshotIndex
from floecat.errors import (
    AlreadyExistsError,
    FloecatError,
    InvalidArgumentError,
    LimitExceededError,
)
from floecat.storage.kv.port import Check, Put

MAX_ATTACHMENT_BYTES: Final = 1024 * 1024 * 1024

_OF_ANY_MESSAGE: Final = frozenset({"data", "last"})


class AttachmentUploads:
    """Adds attachments to snapshots. What is there already is never changed."""

    def __init__(self, stores: CatalogStores) -> None:
        self._stores = stores
        self._tables = TableRepository(stores)
        self._index = SnapshotIndex(stores)
        self._attachments = Attachments(stores.codec)
        self._mutations = Mutations(stores)

    def write(
        self, caller: Caller, messages: Iterator[WriteSnapshotAttachmentRequest]
    ) -> WriteSnapshotAttachmentResponse:
        """Keep what the messages bring, whole or not at all, under a name that is free."""
        first = next(messages, None)
        if first is None:
            raise InvalidArgumentError("the stream is empty: its first message says what it is")
        table_id = addressed_table(caller, first.table_id)
        name = cleaned_name(first.name, "name")
        self._require_free(caller, first, name)
        blob = self._attachments.receive(caller.account_id, _pieces(caller, first, messages))

        def change() -> Change[WriteSnapshotAttachmentResponse]:
            table = self._tables.get(caller, first.table_id)
            stored = self._find_free(caller, first, name)
            message = _with_info(stored.message, name, blob)
            blobs = {**stored.attachments, name: blob}
            meta = next_meta(stored.meta, message, self._stores.now())
            value = self._stores.codec.encode(caller.account_id, message, meta, attachments=blobs)
            shown = self._attachments.shown(Stored(message, meta, 0, attachments=blobs))
            record = keys.snapshot(caller.account_id, table_id, first.snapshot_id)
            parent = keys.resource(caller.account_id, common_pb2.RK_TABLE, table_id)
            return Change(
                (Put(record, value, stored.version), Check(parent, table.version)),
                WriteSnapshotAttachmentResponse(snapshot=shown, meta=meta),
            )

        request = _as_one(first, blob)
        return self._mutations.run(caller, request, WriteSnapshotAttachmentResponse, change)

    def _require_free(
        self, caller: Caller, first: WriteSnapshotAttachmentRequest, name: str
    ) -> None:
        """Refuse before anything is kept; but under a key an earlier answer counts."""
        try:
            self._find_free(caller, first, name)
        except FloecatError:
            if not is_remembered(self._stores, caller, first):
                raise

    def _find_free(
        self, caller: Caller, first: WriteSnapshotAttachmentRequest, name: str
    ) -> Stored[Snapshot]:
        """The snapshot, if it is the expected one and can take an attachment of that name."""
        table = self._tables.get(caller, first.table_id).message
        stored = self._index.resolve(table, SnapshotRef(snapshot_id=first.snapshot_id))
        check_precondition(first.precondition, stored.meta)
        names = [info.name for info in stored.message.attachment_infos]
        if name in names:
            raise AlreadyExistsError(
                f"snapshot {first.snapshot_id} has an attachment {name!r} already",
                reason="ATTACHMENT_EXISTS",
                metadata={"name": name},
            )
        check_count(len(names) + 1, "name")
        return stored


def _pieces(
    caller: Caller,
    first: WriteSnapshotAttachmentRequest,
    rest: Iterator[WriteSnapshotAttachmentRequest],
) -> Iterator[bytes]:
    total = len(first.data)
    yield first.data
    for message in rest:
        caller.asker.require_waiting()
        if any(field.name not in _OF_ANY_MESSAGE for field, _ in message.ListFields()):
            raise InvalidArgumentError(
                "only the first message says what it is: the others carry data alone", field="name"
            )
        total += len(message.data)
        if total > MAX_ATTACHMENT_BYTES:
            raise LimitExceededError(f"an attachment has at most {MAX_ATTACHMENT_BYTES} bytes")
        yield message.data


def _with_info(snapshot: Snapshot, name: str, blob: BlobReference) -> Snapshot:
    added = AttachmentInfo(name=name, size_bytes=blob.size_bytes, sha256=blob.sha256)
    infos = sorted([*snapshot.attachment_infos, added], key=lambda info: info.name)
    message = Snapshot()
    message.CopyFrom(snapshot)
    message.ClearField("attachment_infos")
    message.attachment_infos.extend(infos)
    return message


def _as_one(
    first: WriteSnapshotAttachmentRequest, blob: BlobReference
) -> WriteSnapshotAttachmentRequest:
    """What the whole stream asked for, however it was cut: its hash stands for the data."""
    request = WriteSnapshotAttachmentRequest()
    request.CopyFrom(first)
    request.ClearField("last")
    request.ClearField("says_last")
    request.data = bytes.fromhex(blob.sha256)
    return request
