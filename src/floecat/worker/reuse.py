"""What of a file still has to be read, given what earlier captures learnt of it."""

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache

from ai.floedb.floecat.execution.capture_pb2 import PlannedFile
from ai.floedb.floecat.execution.stored_pb2 import ColumnCoverage, CoverageShape
from ai.floedb.floecat.types.types_pb2 import LogicalType
from floecat.artifacts.index.covered import Covered, CoveredFiles
from floecat.artifacts.opened import OpenedSegments
from floecat.capture.columns import FilePolicy, WantedColumn


class Reuse:
    """Plans files with what is known of them: all, nothing, or some columns are to be read."""

    def __init__(
        self,
        covered: CoveredFiles,
        opened: OpenedSegments,
        policy: FilePolicy,
        types: Mapping[int, LogicalType],
    ) -> None:
        """`types` are those that the snapshot's columns have, wanted or not."""
        self._types = types
        self._covered = covered
        self._opened = opened
        self._wanted = policy.columns
        self._indexed = {column.column_id for column in policy.columns if column.page_index}
        self._sampling = policy.sampling
        # Files of one capture share their shapes, so the answer is worked out once for all of them.
        self._missing = lru_cache(maxsize=1024)(self._missing_in)
        self._shapes: dict[int, CoverageShape] = {}

    def apply(self, planned: PlannedFile) -> bool:
        """Note in a planned file what is used again of it; whether nothing is left to read."""
        found = self._covered.find(planned.identity)
        if found is None:
            return False
        missing = self._missing(self._keys(found))
        # Also of a file that is read whole again: other outputs of it stay known.
        planned.reused_from.extend(found.segments)
        planned.index_part, planned.index_row = found.part, found.row
        planned.column_ids.extend(missing)
        if not self._indexed.isdisjoint(missing):
            self._add_sidecar(planned, found)
        return not missing

    def _add_sidecar(self, planned: PlannedFile, found: Covered) -> None:
        """Readers find one sidecar of a file: the next takes over what it doesn't replace."""
        known = self._opened.sidecar(self._covered.uses(found))
        if known is None:
            return
        # Bounds are written in the column's type: of one that was widened since they mean another.
        stale = {number for number, kind in _indexed(found) if kind != self._types.get(number)}
        kept = set(known.coverage.column_ids) - stale - set(planned.column_ids)
        if kept:
            planned.sidecar.artifact.CopyFrom(known.artifact)
            planned.sidecar.coverage.CopyFrom(known.coverage)
            planned.sidecar.coverage.column_ids[:] = sorted(kept)

    def _keys(self, found: Covered) -> tuple[int, ...]:
        for shape in found.shapes:
            self._shapes.setdefault(id(shape), shape)
        return tuple(id(shape) for shape in found.shapes)

    def _missing_in(self, keys: tuple[int, ...]) -> Sequence[int]:
        shapes = [self._shapes[key] for key in keys]
        known = [
            {column.column_id: column for column in shape.columns}
            for shape in shapes
            if self._is_enough(shape)
        ]
        return [
            wanted.column_id
            for wanted in self._wanted
            if not any(_has(wanted, columns) for columns in known)
        ]

    def _is_enough(self, shape: CoverageShape) -> bool:
        """A sample stands in for a sample of the same kind; everything for any of them."""
        if not shape.HasField("sampling"):
            return True
        return self._sampling is not None and shape.sampling == self._sampling


def _indexed(found: Covered) -> Iterable[tuple[int, LogicalType]]:
    """The columns that page bounds were written of, each in the type that it last had."""
    types = {
        column.column_id: column.logical_type
        for shape in found.shapes
        for column in shape.columns
        if column.page_index
    }
    return types.items()


def _has(wanted: WantedColumn, columns: Mapping[int, ColumnCoverage]) -> bool:
    """Whether everything that is wanted of a column was learnt, of the type that it has now."""
    known = columns.get(wanted.column_id)
    return (
        known is not None
        and known.from_file
        and known.logical_type == wanted.coverage.logical_type
        and (not wanted.ndv or (known.ndv and known.hashed_as == wanted.hashed_as))
        and (not wanted.quantiles or known.quantiles)
        and (not wanted.frequent_items or known.frequent_items)
        and (not wanted.page_index or known.page_index)
    )
