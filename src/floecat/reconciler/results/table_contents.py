"""What a table's plan says, read from its pieces; snapshots are read one after another."""

from collections.abc import Iterator

from ai.floedb.floecat.catalog.constraints_pb2 import TableConstraints
from ai.floedb.floecat.catalog.snapshot_pb2 import SnapshotSpec
from ai.floedb.floecat.catalog.table_pb2 import ColumnId, TableSpec
from ai.floedb.floecat.reconciler.executor_control_pb2 import PlanTableChunk
from floecat.errors import InvalidArgumentError
from floecat.reconciler.results.pieces import Pieces


class TableContents:
    """A table as its upstream has it."""

    def __init__(self, pieces: Pieces) -> None:
        self._pieces = pieces
        self._spec: TableSpec | None = None
        self.columns: list[ColumnId] = []
        self.schemas: dict[int, list[ColumnId]] = {}
        """By the first snapshot that has each, if the format doesn't number columns itself."""
        self.captures: list[int] = []
        self.upstream_ids: set[int] = set()
        self.is_complete = False
        """Whether `upstream_ids` are all that the upstream has."""
        for chunk in self._chunks():
            self._read(chunk)

    @property
    def spec(self) -> TableSpec:
        """The table's metadata."""
        if self._spec is None:
            raise InvalidArgumentError("the result has no table: it belongs into the first chunk")
        return self._spec

    def snapshots(self) -> Iterator[SnapshotSpec]:
        """Snapshots to record, in the order they were sent."""
        for chunk in self._chunks():
            yield from chunk.snapshots

    def constraints(self) -> dict[int, TableConstraints]:
        """Constraints, by snapshot."""
        return {part.snapshot_id: part for chunk in self._chunks() for part in chunk.constraints}

    def _read(self, chunk: PlanTableChunk) -> None:
        if chunk.HasField("table"):
            self._spec = chunk.table
        self.columns.extend(chunk.columns)
        self.schemas.update(
            (told.snapshot_id, list(told.columns)) for told in chunk.snapshot_columns
        )
        self.captures.extend(chunk.capture_snapshot_ids)
        self.upstream_ids.update(chunk.upstream_snapshot_ids)
        self.is_complete = self.is_complete or chunk.upstream_complete

    def _chunks(self) -> Iterator[PlanTableChunk]:
        for frame in self._pieces.frames():
            yield PlanTableChunk.FromString(frame.content)
