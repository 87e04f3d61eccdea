"""What earlier captures know of a snapshot's files, for whoever plans the next one."""

from dataclasses import dataclass

from ai.floedb.floecat.common.common_pb2 import BlobReference
from ai.floedb.floecat.reconciler.executor_control_pb2 import GetLeasedPlanSnapshotInputResponse
from floecat.artifacts.index.covered import CoveredDeletes, CoveredFiles
from floecat.artifacts.index.reading import ScanIndexFile
from floecat.artifacts.opened import OpenedSegments
from floecat.capture.columns import FilePolicy
from floecat.connectors.spi.records import ScanBundle
from floecat.errors import IncompatibleStoreError
from floecat.storage.blobs.port import BlobStore
from floecat.types.messages import to_message
from floecat.worker.reuse import Reuse
from floecat.worker.sketch_budget import SketchBudget
from floecat.worker.snapshot_columns import columns_of, has_source_ids


@dataclass(frozen=True, slots=True)
class Known:
    """What earlier captures know, the index that says so, and what is left for sketches."""

    budget: SketchBudget
    index: BlobReference | None = None
    files: Reuse | None = None
    deletes: CoveredDeletes | None = None

    @classmethod
    def of(
        cls,
        blobs: BlobStore,
        given: GetLeasedPlanSnapshotInputResponse,
        bundle: ScanBundle,
        policy: FilePolicy,
    ) -> "Known":
        """What the newest index knows, if there is one."""
        budget = SketchBudget(_allowed(given), policy)
        if not given.covered_index.uri:
            return cls(budget)
        try:
            index = ScanIndexFile.open(blobs, given.covered_index)
        except IncompatibleStoreError:
            return cls(budget)  # of another version of Floecat: everything is read anew
        if index.index.source_ids != has_source_ids(bundle):
            return cls(budget)  # what it knows it knows under other numbers
        types = {c.column_id: to_message(c.column.logical_type) for c in columns_of(given, bundle)}
        reuse = Reuse(CoveredFiles(index), OpenedSegments(blobs), policy, types)
        left = budget.less(index.sketch_bytes())
        return cls(left, given.covered_index, reuse, CoveredDeletes(index))


def _allowed(given: GetLeasedPlanSnapshotInputResponse) -> int | None:
    return given.sketch_budget_bytes if given.HasField("sketch_budget_bytes") else None
