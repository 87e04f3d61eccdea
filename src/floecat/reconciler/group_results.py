"""What the executed groups of a snapshot left behind, file by file."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from ai.floedb.floecat.catalog.index_pb2 import IndexArtifactRecord
from ai.floedb.floecat.catalog.stats_pb2 import FileTargetStats
from ai.floedb.floecat.execution.capture_pb2 import (
    FES_SUCCEEDED,
    FileExecutionResult,
    FileGroupResultChunk,
    SegmentReference,
)
from ai.floedb.floecat.execution.stored_pb2 import HeldSegment
from ai.floedb.floecat.reconciler.stored_pb2 import StoredJob
from floecat.artifacts.index.covered import IdentityKey, identity_key
from floecat.artifacts.index.rows import DeleteUse, SegmentUse
from floecat.artifacts.opened import OpenedSegments
from floecat.artifacts.payloads import blob_ref, relocated
from floecat.reconciler.states import SUCCEEDED
from floecat.reconciler.tasks import target_of
from floecat.statistics.inline import InlineSegment
from floecat.storage.blobs.frames import read_frames
from floecat.storage.blobs.port import BlobStore

CAPTURES: Final = "captures"


def capture_prefix(account: str, job_id: str, epoch: int) -> str:
    """Below it lies what a job writes under a lease, and nothing else does."""
    return f"{CAPTURES}/{account}/{job_id}/{epoch}"


@dataclass(slots=True)
class GroupResult:
    """A group's results, put together from their pieces."""

    files: dict[str, FileExecutionResult] = field(default_factory=dict)
    stats: dict[str, FileTargetStats] = field(default_factory=dict)
    artifacts: dict[str, IndexArtifactRecord] = field(default_factory=dict)
    segments: list[SegmentReference] = field(default_factory=list)

    def take(self, chunk: FileGroupResultChunk) -> None:
        """Add a piece."""
        self.files.update((result.identity.file_path, result) for result in chunk.files)
        self.stats.update((r.file.identity.file_path, r.file) for r in chunk.stats)
        self.artifacts.update((a.target_file.file_path, a) for a in chunk.artifacts)
        self.segments.extend(chunk.segments)


class GroupResults:
    """Reads persisted results. What came as records is written as a segment first."""

    def __init__(self, blobs: BlobStore, opened: OpenedSegments) -> None:
        self._blobs = blobs
        self._opened = opened

    def results(self, group: StoredJob) -> Iterator[FileExecutionResult]:
        """How each file went; nothing of a group that hasn't succeeded."""
        for chunk in self._chunks(group):
            yield from chunk.files

    def read(self, group: StoredJob) -> GroupResult:
        """Everything of a group; it has some hundred files."""
        result = GroupResult()
        for chunk in self._chunks(group):
            result.take(chunk)
        return result

    def uses(
        self, group: StoredJob, result: GroupResult, marked: str
    ) -> Mapping[str, Sequence[SegmentUse]]:
        """The segments that know of each file, by path. `marked` names what is written here."""
        found: dict[str, list[SegmentUse]] = {}
        for segment in self._held(group, result, marked):
            opened = self._opened.open(segment)
            for number, file in enumerate(opened.files):
                use = SegmentUse(segment, number, opened.manifest.shapes[file.shape])
                found.setdefault(file.stats.identity.file_path, []).append(use)
        return found

    def deletes(self, result: GroupResult) -> Mapping[IdentityKey, DeleteUse]:
        """The segments that know the positions of delete files."""
        return {
            identity_key(file.identity): DeleteUse(segment, number)
            for segment in self._named(result)
            for number, file in enumerate(self._opened.open(segment).delete_files)
        }

    def _named(self, result: GroupResult) -> Iterator[HeldSegment]:
        for named in result.segments:
            held = HeldSegment(segment_id=named.segment_id, manifest=named.manifest)
            segment = self._opened.open(held)
            held.blob_prefix = segment.manifest.blob_prefix
            held.sketch_bytes = segment.sketch_bytes
            yield held

    def _held(self, group: StoredJob, result: GroupResult, marked: str) -> Iterator[HeldSegment]:
        yield from self._named(result)
        inline = _inline(result)
        if inline:
            # Sidecars of these files lie where the worker wrote them: all of that is held.
            whole = capture_prefix(group.account_id, group.job_id, group.epoch)
            prefix = f"{whole}/inline-{marked}"
            target = target_of(group)
            segment = InlineSegment(self._blobs, prefix, target.table_id, group.job_id)
            written = segment.write(target.snapshot_id, inline, result.artifacts)
            yield HeldSegment(
                segment_id=written.segment_id, manifest=written.manifest, blob_prefix=whole
            )

    def _chunks(self, group: StoredJob) -> Iterator[FileGroupResultChunk]:
        if group.state != SUCCEEDED or not group.payload.uri:
            return
        for frame in read_frames(self._blobs, blob_ref(group.payload)):
            chunk = FileGroupResultChunk.FromString(frame.content)
            for named in (*chunk.segments, *chunk.artifacts):
                relocated(named, group.payload)
            yield chunk


def _inline(result: GroupResult) -> list[FileTargetStats]:
    """Files that records tell of; all of them if no segment does, whether much is known or not."""
    if result.segments:
        return list(result.stats.values())
    return [
        result.stats.get(path) or _bare(one)
        for path, one in result.files.items()
        if one.state == FES_SUCCEEDED
    ]


def _bare(result: FileExecutionResult) -> FileTargetStats:
    stats = FileTargetStats(identity=result.identity)
    if result.HasField("row_count"):
        stats.row_count = result.row_count
    return stats
