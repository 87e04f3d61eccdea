"""The sidecar of a file: one for all its columns, whenever they were read."""

import pyarrow as pa

from ai.floedb.floecat.catalog.index_pb2 import (
    IAS_READY,
    IndexArtifactCoverage,
    IndexArtifactRecord,
)
from ai.floedb.floecat.execution.capture_pb2 import PlannedFile
from floecat.artifacts.payloads import blob_ref, reference
from floecat.artifacts.sidecars import FORMAT, FORMAT_VERSION, rows_of, write_sidecar
from floecat.capture.files import CapturedFile
from floecat.clock import utc_now
from floecat.errors import DataLossError, InvalidArgumentError, NotFoundError
from floecat.storage.blobs.port import BlobStore


def write_pages(
    blobs: BlobStore, name: str, planned: PlannedFile, captured: CapturedFile
) -> IndexArtifactRecord:
    """Write the pages that were found, and those that an older sidecar has of other columns."""
    coverage = captured.page_coverage or IndexArtifactCoverage()
    kept = _kept(blobs, planned, coverage)
    written = write_sidecar(blobs, name, planned.identity, captured.pages, kept)
    record = IndexArtifactRecord(
        target_file=planned.identity,
        artifact=reference(written),
        state=IAS_READY,
        artifact_format=FORMAT,
        artifact_format_version=FORMAT_VERSION,
        coverage=coverage if kept is None else _united(planned.sidecar.coverage, coverage, kept),
    )
    record.created_at.FromDatetime(utc_now())
    return record


def _kept(blobs: BlobStore, planned: PlannedFile, found: IndexArtifactCoverage) -> pa.Table | None:
    """The rows of columns that weren't read now; None if there are none, or they can't be read."""
    if not planned.sidecar.artifact.uri:
        return None
    try:
        content = blobs.read(blob_ref(planned.sidecar.artifact))
        wanted = set(planned.sidecar.coverage.column_ids) - set(found.column_ids)
        return rows_of(content, planned.identity, sorted(wanted))
    except (DataLossError, NotFoundError, InvalidArgumentError):
        # Nobody could read these pages before, either. They only help to skip data, and failing
        # would leave the file without what was learnt now, this time and every time after it.
        return None


def _united(
    older: IndexArtifactCoverage, found: IndexArtifactCoverage, kept: pa.Table
) -> IndexArtifactCoverage:
    return IndexArtifactCoverage(
        row_count=found.row_count,
        row_group_count=found.row_group_count,
        page_count=found.page_count + kept.num_rows - kept.column("page").null_count,
        column_ids=sorted({*older.column_ids, *found.column_ids}),
        row_groups_without_pages=max(
            older.row_groups_without_pages, found.row_groups_without_pages
        ),
    )
