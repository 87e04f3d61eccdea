"""The columns of the snapshot that is planned."""

from ai.floedb.floecat.reconciler.executor_control_pb2 import GetLeasedPlanSnapshotInputResponse
from floecat.connectors.spi.columns import ColumnScope, NumberedColumn
from floecat.connectors.spi.records import ScanBundle


def columns_of(
    given: GetLeasedPlanSnapshotInputResponse, bundle: ScanBundle
) -> list[NumberedColumn]:
    """The columns of the snapshot's own schema: others that files still have are gone."""
    numbers = {tuple(column.path): column.column_id for column in given.column_ids}
    return ColumnScope(numbers=numbers).numbered(bundle.columns)


def has_source_ids(bundle: ScanBundle) -> bool:
    """Whether the format numbers its columns. Some begin to when a table is upgraded."""
    return any(column.source_id is not None for column in bundle.columns)
