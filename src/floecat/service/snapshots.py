"""SnapshotService over the snapshot repository."""

from collections.abc import Iterator

from ai.floedb.floecat.catalog.snapshot_pb2 import (
    CreateSnapshotRequest,
    CreateSnapshotResponse,
    DeleteSnapshotRequest,
    DeleteSnapshotResponse,
    GetSnapshotRequest,
    GetSnapshotResponse,
    ListSnapshotsRequest,
    ListSnapshotsResponse,
    ReadSnapshotAttachmentRequest,
    ReadSnapshotAttachmentResponse,
    WriteSnapshotAttachmentRequest,
    WriteSnapshotAttachmentResponse,
)
from floecat.catalog.snapshots import SnapshotRepository
from floecat.catalog.uploads import AttachmentUploads
from floecat.service.calls import Call


class SnapshotHandlers:
    """One method per RPC."""

    def __init__(self, snapshots: SnapshotRepository, uploads: AttachmentUploads) -> None:
        self._snapshots = snapshots
        self._uploads = uploads

    def ListSnapshots(self, request: ListSnapshotsRequest, call: Call) -> ListSnapshotsResponse:
        page = self._snapshots.list(call.caller, request)
        return ListSnapshotsResponse(snapshots=page.items, page=page.message)

    def GetSnapshot(self, request: GetSnapshotRequest, call: Call) -> GetSnapshotResponse:
        stored = self._snapshots.get(call.caller, request.table_id, request.snapshot)
        return GetSnapshotResponse(snapshot=stored.message, meta=stored.meta)

    def CreateSnapshot(self, request: CreateSnapshotRequest, call: Call) -> CreateSnapshotResponse:
        return self._snapshots.create(call.caller, request)

    def DeleteSnapshot(self, request: DeleteSnapshotRequest, call: Call) -> DeleteSnapshotResponse:
        return self._snapshots.delete(call.caller, request)

    def WriteSnapshotAttachment(
        self, requests: Iterator[WriteSnapshotAttachmentRequest], call: Call
    ) -> WriteSnapshotAttachmentResponse:
        return self._uploads.write(call.caller, requests)

    def ReadSnapshotAttachment(
        self, request: ReadSnapshotAttachmentRequest, call: Call
    ) -> Iterator[ReadSnapshotAttachmentResponse]:
        for data in self._snapshots.read_attachment(call.caller, request):
            yield ReadSnapshotAttachmentResponse(data=data)
