"""What earlier captures know of a snapshot's files, for whoever plans the next one."""

from dataclasses import dataclass

from ai.floedb.floecat.common.common_pb2 import BlobReference
from ai.floedb.floecat.reconciler.executor_control_pb2 import GetLeasedPlanSnapshotInputResponse
from floecat.artifacts.index.covered import CoveredDeletes, CoveredFiles
from floecat.artifacts.index.reading import ScanIndexFile
from floecat.artifacts.opened import OpenedSegments
from floecat.capture.policies import file_policy
from floecat.connectors.spi.records import ScanBundle
from floecat.storage.blobs.port import BlobStore
from floecat.types.messages import to_message
from floecat.worker.captures import column_scope
from floecat.worker.reuse import Reuse
from floecat.worker.snapshot_columns import columns_of, has_source_ids


@dataclass(frozen=True, slots=True)
class Known:
    """What earlier captures know, and the index that says so."""

    index: BlobReference | None = None
    files: Reuse | None = None
    deletes: CoveredDeletes | None = None

    @classmethod
    def of(
        cls, blobs: BlobStore, given: GetLeasedPlanSnapshotInputResponse, bundle: ScanBundle
    ) -> "Known":
        """What the newest index knows, if there is one."""
        if not given.covered_index.uri:
            return cls()
        scope = column_scope(given.capture_policy, given.column_ids, lambda: bundle.columns)
        policy = file_policy(given.capture_policy, scope.selected(bundle.columns))
        index = ScanIndexFile.open(blobs, given.covered_index)
        if index.index.source_ids != has_source_ids(bundle):
            return cls()  # what it knows it knows under other numbers
        types = {c.column_id: to_message(c.column.logical_type) for c in columns_of(given, bundle)}
        reuse = Reuse(CoveredFiles(index), OpenedSegments(blobs), policy, types)
        return cls(given.covered_index, reuse, CoveredDeletes(index))
