"""Segments that a worker names: its own, whole, and of exactly the files that it speaks of."""

from collections.abc import Iterable, Sequence

from google.protobuf.message import DecodeError

from ai.floedb.floecat.catalog.stats_pb2 import FileIdentity
from ai.floedb.floecat.execution.capture_pb2 import SegmentReference
from floecat.artifacts.coverage import CoverageHash
from floecat.artifacts.index.covered import IdentityKey, identity_key
from floecat.artifacts.segments import Segment
from floecat.errors import (
    DataLossError,
    IncompatibleStoreError,
    InvalidArgumentError,
    NotFoundError,
)
from floecat.reconciler.assignments import Assignment
from floecat.reconciler.group_results import capture_prefix
from floecat.storage.blobs.port import BlobStore


class SegmentChecks:
    """Looks at segments before they are accepted. What their parts hold is read later."""

    def __init__(self, blobs: BlobStore) -> None:
        self._blobs = blobs

    def check(
        self,
        assignment: Assignment,
        named: Sequence[SegmentReference],
        files: Iterable[FileIdentity],
        delete_files: Iterable[FileIdentity],
    ) -> None:
        """Refuse segments that aren't of this lease, of this table, or of these files."""
        expected, found = CoverageHash(), CoverageHash()
        for identity in files:
            expected.add(identity)
        known = {identity_key(identity) for identity in delete_files}
        for reference in named:
            segment = self._checked(assignment, reference)
            for file in segment.files:
                found.add(file.stats.identity)
            for delete_file in segment.delete_files:
                _require_among(known, delete_file.identity)
        if expected.hexdigest() != found.hexdigest():
            raise InvalidArgumentError(
                f"the segments are of {len(found)} files, but {len(expected)} went well, or "
                "others: each file that went well is in one segment"
            )

    def _checked(self, assignment: Assignment, named: SegmentReference) -> Segment:
        segment = self._opened(named)
        manifest = segment.manifest
        lease = assignment.lease
        prefix = capture_prefix(lease.account_id, lease.job_id, lease.epoch)
        if not _is_below(manifest.blob_prefix, prefix):
            raise InvalidArgumentError(
                f"the segment {named.segment_id} lies below {manifest.blob_prefix!r}, and this "
                f"lease writes below {prefix}"
            )
        if not named.segment_id or manifest.segment_id != named.segment_id:
            raise InvalidArgumentError(
                f"the manifest at {named.manifest.uri} is of another segment"
            )
        if manifest.table_id.id != assignment.task.target.table_id.id:
            raise InvalidArgumentError(f"the segment {named.segment_id} is of another table")
        for reference in (named.manifest, *segment.blobs()):
            if f"{manifest.blob_prefix}/" not in reference.uri:
                raise InvalidArgumentError(
                    f"{reference.uri} doesn't lie below its segment's prefix"
                )
        for file in segment.files:
            if not 0 <= file.shape < len(manifest.shapes):
                raise InvalidArgumentError(
                    f"the segment {named.segment_id} doesn't say what was learnt of "
                    f"{file.stats.identity.file_path}"
                )
        return segment

    def _opened(self, named: SegmentReference) -> Segment:
        try:
            return Segment.open(self._blobs, named.manifest)
        except (
            DataLossError,
            NotFoundError,
            InvalidArgumentError,
            IncompatibleStoreError,
        ) as error:
            raise InvalidArgumentError(
                f"the segment {named.segment_id} can't be read: {error.message}"
            ) from error
        except DecodeError as error:
            raise InvalidArgumentError(
                f"{named.manifest.uri} isn't the manifest of a segment"
            ) from error


def _require_among(known: set[IdentityKey], identity: FileIdentity) -> None:
    if identity_key(identity) not in known:
        raise InvalidArgumentError(
            f"a segment has positions of {identity.file_path}, which isn't among the delete files "
            "that went well"
        )


def _is_below(name: str, prefix: str) -> bool:
    return name == prefix or name.startswith(f"{prefix}/")
