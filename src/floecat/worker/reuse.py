"""What of a file still has to be read, given what earlier captures learnt of it."""

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache

from ai.floedb.floecat.execution.capture_pb2 import PlannedFile
from ai.floedb.floecat.execution.stored_pb2 import ColumnCoverage, CoverageShape
from ai.floedb.floecat.types.types_pb2 import LogicalType
from floecat.artifacts.index.covered import Covered, CoveredFiles
from floecat.artifacts.opened import OpenedSegments
from floecat.artifacts.sidecars import mean_the_same
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
        self._stale = lru_cache(maxsize=1024)(self._stale_in)
        self._shapes: dict[int, CoverageShape] = {}

    def apply(self, planned: PlannedFile) -> bool:
        """Note in a planned file what is used again of it; whether nothing is left to read."""
        found = self._covered.find(planned.identity)
        if found is None:
            return False
        keys = self._keys(found)
        missing, stale = self._missing(keys), self._stale(keys)
        # Also of a file that is read whole again: other outputs of it stay known.
        planned.reused_from.extend(found.segments)
        planned.index_part, planned.index_row = found.part, found.row
        planned.column_ids.extend(missing)
        if stale or not self._indexed.isdisjoint(missing):
            self._add_sidecar(planned, found, stale)
        return not planned.column_ids

    def _add_sidecar(self, planned: PlannedFile, found: Covered, stale: frozenset[int]) -> None:
        """Readers find one sidecar of a file: the next takes over what it doesn't replace.

        Columns whose bounds mean something else by now are read again, wanted or not: nobody who
        reads the sidecar could tell.
        """
        known = self._opened.sidecar(self._covered.uses(found))
        if known is None:
            return
        outdated = stale.intersection(known.coverage.column_ids)
        if not outdated and self._indexed.isdisjoint(planned.column_ids):
            return  # the file has no such column
        planned.column_ids.extend(sorted(outdated.difference(planned.column_ids)))
        kept = set(known.coverage.column_ids).difference(planned.column_ids)
        if kept or outdated:
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

    def _stale_in(self, keys: tuple[int, ...]) -> frozenset[int]:
        """Columns whose page bounds were written in a type that meant something else.

        Those that the snapshot doesn't have keep theirs: nobody reads them as another type.
        """
        written = _indexed(self._shapes[key] for key in keys)
        return frozenset(
            number
            for number, kind in written.items()
            if number in self._types and not mean_the_same(kind, self._types[number])
        )

    def _is_enough(self, shape: CoverageShape) -> bool:
        """A sample stands in for a sample of the same kind; everything for any of them."""
        if not shape.HasField("sampling"):
            return True
        return self._sampling is not None and shape.sampling == self._sampling


def _indexed(shapes: Iterable[CoverageShape]) -> Mapping[int, LogicalType]:
    """The columns that page bounds were written of, each in the type that it last had."""
    return {
        column.column_id: column.logical_type
        for shape in shapes
        for column in shape.columns
        if column.page_index
    }


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
