"""A snapshot's column statistics: what segments learnt, of the files that are live.

A segment is added by its partial if all files that were read for the column are live, and it is
what speaks of the column in all of them; others file by file. Memory holds one merge per column and
the numbers of live files.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

import numpy as np
import pyarrow as pa

from ai.floedb.floecat.execution.stored_pb2 import ColumnCoverage, CoverageShape, HeldSegment
from floecat.artifacts.columns import ColumnRow
from floecat.artifacts.index.choosing import Choices
from floecat.artifacts.index.parts import IndexPartFile, Use
from floecat.artifacts.index.reading import ScanIndexFile
from floecat.artifacts.merging import ColumnMerge
from floecat.artifacts.segments import Segment
from floecat.artifacts.types import stored_type
from floecat.sketches.theta import ThetaSketch

_NO_VALUES: Final = ThetaSketch().to_bytes()


@dataclass(frozen=True, slots=True)
class MergedColumn:
    """A column of a snapshot."""

    coverage: ColumnCoverage
    row: ColumnRow
    upper_bound_only: bool = False
    """Some segments keep sketches of all their files together only, and not all of those count."""


@dataclass
class _Live:
    """The live files of a segment, by the columns that it speaks of; None means all it has."""

    held: HeldSegment
    files: "dict[frozenset[int] | None, list[int]]" = field(default_factory=dict)

    def add(self, columns: "frozenset[int] | None", files: Sequence[int]) -> None:
        self.files.setdefault(columns, []).extend(files)

    def of(self, column_id: int) -> list[int]:
        """The files that it speaks of the column in."""
        chosen = (f for c, f in self.files.items() if c is None or column_id in c)
        return [number for files in chosen for number in files]


class SnapshotMerge:
    """Merges the columns of one snapshot."""

    def __init__(self, index: ScanIndexFile, opened: Callable[[HeldSegment], Segment]) -> None:
        self._index = index
        self._opened = opened
        self._live: dict[str, _Live] = {}
        self._shapes: list[CoverageShape] = []
        self._shape_numbers: dict[bytes, int] = {}
        self._choices = Choices(self._shapes)
        self._counts: dict[tuple[int, ...], int] = {}
        self._stood_in: set[int] = set()
        for number in index.parts:
            self._look_through(index.part(number), index.live(number))

    def columns(self) -> Iterator[MergedColumn]:
        """Every column that something is known of in all live files, by id."""
        coverages, lacking, mixed = self._survey()
        merges = {c: ColumnMerge(stored_type(v.logical_type)) for c, v in coverages.items()}
        for live in self._live.values():
            self._add(live, merges, mixed)
        for column_id, merge in sorted(merges.items()):
            if lacking.get(column_id):
                merge.add(None)
            row = merge.result()
            if not _says_nothing(row):
                yield MergedColumn(coverages[column_id], row, column_id in self._stood_in)

    def _add(self, live: _Live, merges: Mapping[int, ColumnMerge], mixed: "frozenset[int]") -> None:
        segment = self._opened(live.held)
        by_file: list[tuple[int, list[int]]] = []
        for column_id in segment.columns.keys() & merges.keys():
            files = live.of(column_id)
            if not files:
                continue
            if len(files) == segment.asked(column_id) and column_id in segment.partials.column_ids:
                row = segment.partials.row(column_id, 0)
                merges[column_id].add(_fitting(row, column_id in mixed))
            else:
                by_file.append((column_id, files))
        if by_file:
            self._add_files(segment, by_file, merges, mixed)

    def _add_files(
        self,
        segment: Segment,
        wanted: Sequence[tuple[int, list[int]]],
        merges: Mapping[int, ColumnMerge],
        mixed: "frozenset[int]",
    ) -> None:
        first = 0
        stand_in = self._stand_in(segment, [c for c, _ in wanted if c not in mixed], merges)
        for part, columns in segment.parts():
            end = first + len(part.files)
            for column_id, files in wanted:
                here = [number - first for number in files if first <= number < end]
                for place, row in zip(here, columns.rows(column_id, here), strict=True):
                    known = _fitting(row, column_id in mixed)
                    if column_id in stand_in and known is not None:
                        known = replace(known, theta=_NO_VALUES)
                    stats = part.files[place].stats
                    rows = stats.row_count if stats.HasField("row_count") else None
                    merges[column_id].add(known, rows)
            first = end

    def _stand_in(
        self, segment: Segment, column_ids: Sequence[int], merges: Mapping[int, ColumnMerge]
    ) -> set[int]:
        """Columns whose values are counted by the segment's partial, as files have no sketches."""
        found: set[int] = set()
        if not segment.has_sketches_together:
            return found
        for column_id in column_ids:
            whole = segment.partials.row(column_id, 0)
            if whole is not None and whole.theta is not None:
                merges[column_id].stand_in(whole.theta)
                found.add(column_id)
        self._stood_in |= found
        return found

    def _survey(
        self,
    ) -> "tuple[dict[int, ColumnCoverage], dict[int, int], frozenset[int]]":
        """Columns; files with rows that nothing is known in; columns hashed in several ways."""
        coverages: dict[int, ColumnCoverage] = {}
        hashed: dict[int, set[str]] = {}
        known: dict[int, int] = {}
        for numbers, count in self._counts.items():
            for column_id, ordinal in self._choices.of(numbers).items():
                shape = self._shapes[numbers[ordinal]]
                coverage = next(c for c in shape.columns if c.column_id == column_id)
                coverages[column_id] = coverage
                hashed.setdefault(column_id, set()).add(coverage.hashed_as)
                known[column_id] = known.get(column_id, 0) + count
        total = sum(self._counts.values())
        lacking = {column_id: total - count for column_id, count in known.items()}
        mixed = frozenset(column_id for column_id, ways in hashed.items() if len(ways) > 1)
        return coverages, lacking, mixed

    def _look_through(
        self, part: IndexPartFile, live: "np.ndarray[Any, np.dtype[np.bool_]]"
    ) -> None:
        """Take note of a part's live files: at once those that one segment knows."""
        core = part.core
        readable = live & core.column("failure").is_null().to_numpy(False)
        sizes = np.diff(core.column("segments").offsets.to_numpy())
        shapes = [self._number(shape) for shape in part.part.shapes]
        filled = core.column("row_count").to_numpy(zero_copy_only=False) != 0
        single = np.nonzero(readable & (sizes == 1))[0]
        uses = core.column("segments").take(pa.array(single)).flatten()
        segments, files, numbers = (
            uses.field(name).to_numpy(zero_copy_only=False) for name in ("segment", "file", "shape")
        )
        for number in np.unique(segments):
            held = part.part.segments[int(number)]
            self._of(held).add(None, files[segments == number].tolist())
        for number in np.unique(numbers):
            count = int((filled[single] & (numbers == number)).sum())
            self._count((shapes[int(number)],), count)
        for row in np.nonzero(readable & (sizes != 1))[0]:
            self._take(part, part.uses(int(row)), shapes, has_rows=bool(filled[row]))

    def _take(
        self, part: IndexPartFile, uses: Sequence[Use], shapes: Sequence[int], *, has_rows: bool
    ) -> None:
        """Take note of a file that several segments know, or none."""
        numbers = tuple(shapes[use.shape] for use in uses)
        self._count(numbers, int(has_rows))
        chosen = self._choices.of(numbers)
        for ordinal, use in enumerate(uses):
            columns = frozenset(c for c, place in chosen.items() if place == ordinal)
            self._of(part.segment(use)).add(columns, [use.file])

    def _of(self, held: HeldSegment) -> _Live:
        return self._live.setdefault(held.manifest.sha256, _Live(held))

    def _count(self, numbers: tuple[int, ...], count: int) -> None:
        self._counts[numbers] = self._counts.get(numbers, 0) + count

    def _number(self, shape: CoverageShape) -> int:
        content = shape.SerializeToString(deterministic=True)
        number = self._shape_numbers.setdefault(content, len(self._shapes))
        if number == len(self._shapes):
            self._shapes.append(shape)
        return number


def _fitting(row: ColumnRow | None, mixed: bool) -> ColumnRow | None:
    """Without what can't be united: values that were hashed in other ways in other files."""
    return replace(row, theta=None) if mixed and row is not None else row


def _says_nothing(row: ColumnRow) -> bool:
    return row == ColumnRow()
