"""From a capture policy and a schema to the columns that files are asked for."""

from collections.abc import Sequence

from ai.floedb.floecat.execution import capture_pb2
from ai.floedb.floecat.execution.capture_pb2 import CapturePolicy, ColumnCapturePolicy
from floecat.capture.columns import FilePolicy, WantedColumn
from floecat.connectors.spi.columns import ColumnScope, NumberedColumn


def file_policy(
    policy: CapturePolicy,
    columns: Sequence[NumberedColumn],
    every: Sequence[NumberedColumn] = (),
) -> FilePolicy:
    """What is wanted of every file of a snapshot, of the columns in scope; `every` are all."""
    outputs = set(policy.outputs)
    sketches = not outputs or capture_pb2.CAO_COLUMN_STATS in outputs
    pages = not outputs or capture_pb2.CAO_PAGE_INDEX in outputs
    wanted = tuple(
        _wanted(column, _said(policy, column), sketches=sketches, pages=pages) for column in columns
    )
    scope = {column.column_id for column in columns}
    others = tuple(
        _wanted(column, None, sketches=False, pages=True)
        for column in every
        if column.column_id not in scope
    )
    sampling = policy.sampling if policy.HasField("sampling") else None
    return FilePolicy(columns=wanted, others=others, sampling=sampling)


def _said(policy: CapturePolicy, column: NumberedColumn) -> ColumnCapturePolicy | None:
    """What the policy says of a column by itself; the last that means it counts."""
    found = None
    for said in policy.columns:
        if ColumnScope((said.selector,), {column.column.path: column.column_id}).selected(
            [column.column]
        ):
            found = said
    return found


def _wanted(
    numbered: NumberedColumn, said: ColumnCapturePolicy | None, *, sketches: bool, pages: bool
) -> WantedColumn:
    column = numbered.column
    chosen = said is not None and (said.ndv or said.quantiles or said.frequent_items)
    return WantedColumn(
        column_id=numbered.column_id,
        name=column.name,
        logical_type=column.logical_type,
        source_type=column.source_type,
        field_id=column.source_id,
        file_paths=column.file_paths or (column.path,),
        has_default=column.has_default,
        repeated=column.repeated,
        partition_names=column.partition_names,
        ndv=sketches and (said.ndv if chosen and said else True),
        quantiles=sketches and (said.quantiles if chosen and said else True),
        frequent_items=sketches and (said.frequent_items if chosen and said else True),
        page_index=pages,
    )
