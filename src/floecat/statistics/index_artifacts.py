"""Index artifacts: what captures registered in segments, and what clients registered over it."""

import heapq
import re
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import groupby
from typing import Final, NamedTuple

from ai.floedb.floecat.catalog.index_pb2 import (
    IAS_READY,
    IAS_UNSPECIFIED,
    IndexArtifactRecord,
)
from ai.floedb.floecat.common.common_pb2 import BlobReference
from floecat.artifacts.payloads import blob_ref
from floecat.artifacts.sorted import SortedRecord
from floecat.artifacts.targets import path_key
from floecat.catalog import keys
from floecat.catalog.codec import MAX_RECORD_BYTES
from floecat.catalog.records import CatalogStores
from floecat.errors import (
    DataLossError,
    FailedPreconditionError,
    InvalidArgumentError,
    LimitExceededError,
    NotFoundError,
)
from floecat.statistics.captured import Captures
from floecat.statistics.checks import check_path
from floecat.statistics.files import CapturedFiles
from floecat.statistics.overlays import Overlay, Overlays
from floecat.statistics.store import PreparedPut, SnapshotPlace
from floecat.storage.kv.port import Key

CHUNK_BYTES: Final = 256 * 1024
_SHA256: Final = re.compile(r"[0-9a-f]{64}")


class _Found(NamedTuple):
    """A record that is somewhere; made only if it is wanted."""

    key: str
    rank: int
    record: Callable[[], IndexArtifactRecord | None]


class IndexArtifactRepository:
    """Index artifacts by snapshot and file."""

    def __init__(self, stores: CatalogStores) -> None:
        self._blobs = stores.blobs
        self._overlays = Overlays(stores)
        self._captures = Captures(stores)

    def get(self, place: SnapshotPlace, path: str) -> IndexArtifactRecord:
        """The artifact of a file; NotFoundError if it has none."""
        check_path(path, "file_path")
        found = self._find(place, path)
        if found is None:
            raise NotFoundError(
                f"{path} has no index artifact in snapshot {place.snapshot_id}: capture it with "
                "page indexes first",
                reason="INDEX_ARTIFACT_NOT_FOUND",
                metadata={"file_path": path, "snapshot_id": str(place.snapshot_id)},
            )
        return found

    def list(
        self, place: SnapshotPlace, after: str | None = None
    ) -> Iterator[tuple[str, IndexArtifactRecord]]:
        """Artifacts behind a key, in the order of their files' paths, each with its key."""
        overlay = self._overlays.find(_row(place))
        captured = self._captures.find(place)
        sources: list[Iterator[_Found]] = []
        if overlay is not None:
            sources.append(_written(overlay, after))
        if captured is not None:
            sources.append(_captured(captured.files, after))
        ordered = heapq.merge(*sources, key=lambda found: found[:2])
        for key, same in groupby(ordered, key=lambda found: found.key):
            record = next(same).record()
            if record is not None:
                yield key, record

    def prepared(
        self, place: SnapshotPlace, records: Iterable[IndexArtifactRecord]
    ) -> Callable[[], PreparedPut]:
        """Write records where nobody sees them; the result lays them over what is there then."""
        needed: list[BlobReference] = []

        def checked() -> Iterator[SortedRecord]:
            for record in records:
                self._check(place, record)
                if record.artifact.uri:
                    needed.append(record.artifact)
                placed = IndexArtifactRecord()
                placed.CopyFrom(record)
                placed.table_id.CopyFrom(place.table)
                placed.snapshot_id = place.snapshot_id
                key = path_key(record.target_file.file_path)
                yield SortedRecord(key, placed.SerializeToString(deterministic=True))

        layer = self._overlays.layer(place.account_id, checked(), needed)
        return lambda: self._overlays.laid(place.account_id, _row(place), layer)

    def pieces(self, record: IndexArtifactRecord) -> Iterator[bytes]:
        """The artifact's bytes in order. DataLossError if they aren't what was registered."""
        if record.state != IAS_READY or not record.artifact.uri:
            reason = record.failure or "it isn't ready"
            raise FailedPreconditionError(
                f"the index artifact of {record.target_file.file_path} can't be read: {reason}",
                reason="INDEX_ARTIFACT_NOT_READY",
            )
        try:
            content = self._blobs.open(blob_ref(record.artifact))
        except NotFoundError as error:
            raise DataLossError(
                f"the index artifact of {record.target_file.file_path} is gone"
            ) from error
        with content:
            while piece := content.read(CHUNK_BYTES):
                yield piece

    def _find(self, place: SnapshotPlace, path: str) -> IndexArtifactRecord | None:
        overlay = self._overlays.find(_row(place))
        written = overlay.find(path_key(path)) if overlay else None
        if written is not None:
            return IndexArtifactRecord.FromString(written.entry.record)
        captured = self._captures.find(place)
        file = captured.files.index.find(path) if captured else None
        return captured.files.artifact(file) if captured and file else None

    def _check(self, place: SnapshotPlace, record: IndexArtifactRecord) -> None:
        check_path(record.target_file.file_path, "records.target_file.file_path")
        other_table = record.HasField("table_id") and (
            record.table_id.id != place.table_id or record.table_id.account_id != place.account_id
        )
        if other_table or record.snapshot_id not in (0, place.snapshot_id):
            raise InvalidArgumentError(
                "every record of a stream is of the table and snapshot that the stream names",
                field="records.table_id" if other_table else "records.snapshot_id",
            )
        if record.state == IAS_UNSPECIFIED:
            raise InvalidArgumentError(
                "a record says whether its artifact is ready", field="records.state"
            )
        if record.ByteSize() > MAX_RECORD_BYTES:
            raise LimitExceededError(f"a record has at most {MAX_RECORD_BYTES} bytes")
        if record.state == IAS_READY or record.artifact.uri:
            self._check_artifact(place, record.artifact)

    def _check_artifact(self, place: SnapshotPlace, artifact: BlobReference) -> None:
        """Refuse what isn't there, and what isn't the account's: it could be read afterwards."""
        field = "records.artifact"
        own = f"captures/{place.account_id}/"
        name = artifact.uri[max(0, artifact.uri.rfind("captures/")) :]
        if not name.startswith(own) or not _SHA256.fullmatch(artifact.sha256):
            raise InvalidArgumentError(
                f"an artifact lies below {own} of the blob store, and has a hash", field=field
            )
        try:
            self._blobs.open(blob_ref(artifact)).close()
        except (NotFoundError, DataLossError, InvalidArgumentError) as error:
            raise InvalidArgumentError(
                f"the artifact can't be read: {error.message}", field=field
            ) from error


def _row(place: SnapshotPlace) -> Key:
    return keys.overlay(place.account_id, place.table_id, place.snapshot_id, keys.ARTIFACTS)


def _written(overlay: Overlay, after: str | None) -> Iterator[_Found]:
    for one in overlay.entries(after):
        yield _Found(one.entry.key, 0, partial(IndexArtifactRecord.FromString, one.entry.record))


def _captured(files: CapturedFiles, after: str | None) -> Iterator[_Found]:
    for file in files.index.files(after):
        yield _Found(file.key, 1, partial(files.artifact, file))
