"""How many rows position deletes take away from data files.

Delete files may repeat themselves and each other, and name data files that they don't apply to or
that are gone. Positions are read only where runs overlap; elsewhere their counts add up.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
import pyarrow as pa

from floecat.artifacts.index.rows import DeleteUse
from floecat.artifacts.opened import OpenedSegments
from floecat.artifacts.positions import Positions

UNKNOWN: Final = -1

_RUNS: Final = 1 << 18
"""Runs that are looked through at once."""
_WINDOW: Final = 1 << 26
"""Rows of a data file that are looked at at once: a byte of memory each."""
_MOST_ROWS: Final = 1 << 32
"""No data file has so many rows. What is left of one that says so stays unknown."""

Numbers = np.ndarray[Any, np.dtype[np.int64]]
Runs = np.ndarray[Any, np.dtype[np.void]]

_TOLD: Final = ["path", "first", "last", "count"]
"""What is looked at of every run."""
_FIELDS: Final = ("file", "first", "last", "count", "delete_file", "batch", "row")
_RUN: Final = np.dtype([(name, np.int64) for name in _FIELDS])
"""A run of a data file: what it is, and where its positions lie."""


@dataclass(frozen=True, slots=True)
class DeletedFiles:
    """Data files, and which delete files apply to them."""

    paths: pa.Array
    row_counts: Numbers
    files: Numbers
    """Of pairs of a data file and a delete file, both by number."""
    delete_files: Numbers


class PositionCounts:
    """Counts with what segments know of delete files. Memory is that of the files asked for."""

    def __init__(self, known: Mapping[int, DeleteUse], opened: OpenedSegments) -> None:
        self.known = known
        """Delete files by number."""
        self._opened = opened

    def taken(self, deleted: DeletedFiles) -> Numbers:
        """Per data file the rows that known deletes take away, each once; or UNKNOWN."""
        runs = np.concatenate([np.empty(0, _RUN), *self._runs(deleted)])
        runs = runs[np.lexsort((runs["first"], runs["file"]))]
        taken = np.zeros(len(deleted.row_counts), np.int64)
        np.add.at(taken, runs["file"], runs["count"])
        for file in _to_be_read(runs, deleted.row_counts):
            low, high = np.searchsorted(runs["file"], (file, file + 1))
            taken[file] = self._distinct(runs[low:high], int(deleted.row_counts[file]))
        return taken

    def _runs(self, deleted: DeletedFiles) -> Iterator[Runs]:
        """The runs that apply to the files, some at a time."""
        gathered = _Gathered()
        for number in self._in_order(deleted.delete_files):
            use = self.known[number]
            positions, file = self._opened.positions(use.segment, use.file)
            for batch in positions.runs(file):
                gathered.add(number, batch.number, batch.runs)
                if gathered.rows >= _RUNS:
                    yield gathered.of(deleted)
                    gathered = _Gathered()
        if gathered.rows:
            yield gathered.of(deleted)

    def _in_order(self, delete_files: Numbers) -> list[int]:
        """Those of one segment after another, so that each is opened once."""
        known = [number for number in np.unique(delete_files).tolist() if number in self.known]
        uses = self.known
        return sorted(known, key=lambda n: (uses[n].segment.manifest.sha256, uses[n].file))

    def _distinct(self, runs: Runs, row_count: int) -> int:
        """Positions of one file that are named at least once. Rows that it hasn't don't count."""
        end = min(row_count, int(runs["last"].max()) + 1)
        if end > _MOST_ROWS:
            return UNKNOWN
        count = 0
        for start in range(0, end, _WINDOW):
            stop = min(start + _WINDOW, end)
            here = runs[(runs["first"] < stop) & (runs["last"] >= start)]
            if len(here):
                named = np.zeros(stop - start, np.bool_)
                for run in here:
                    positions = self._positions(run)
                    low, high = np.searchsorted(positions, (start, stop))
                    named[positions[low:high] - start] = True
                count += int(np.count_nonzero(named))
        return count

    def _positions(self, run: np.void) -> Positions:
        use = self.known[int(run["delete_file"])]
        positions, _ = self._opened.positions(use.segment, use.file)
        return positions.positions(int(run["batch"]), int(run["row"]))


def _to_be_read(runs: Runs, row_counts: Numbers) -> list[int]:
    """Files whose counts don't just add up: runs overlap, or name rows that aren't there."""
    same_file = runs["file"][1:] == runs["file"][:-1]
    overlapping = same_file & (runs["first"][1:] <= runs["last"][:-1])
    too_far = runs["last"] >= row_counts[runs["file"]]
    found = np.concatenate([runs["file"][1:][overlapping], runs["file"][too_far]])
    return [int(file) for file in np.unique(found)]


@dataclass(slots=True)
class _Gathered:
    """Runs of delete files, whatever data files they are of."""

    rows: int = 0
    batches: list[pa.RecordBatch] = field(default_factory=list)
    origins: list[tuple[int, int]] = field(default_factory=list)
    """Of each batch: the delete file, and its number among the positions."""

    def add(self, delete_file: int, batch: int, found: pa.RecordBatch) -> None:
        rows = pa.array(np.arange(found.num_rows))
        # Taking copies, so that the positions aren't kept open for as long as these rows are.
        self.batches.append(found.select(_TOLD).take(rows))
        self.origins.append((delete_file, batch))
        self.rows += found.num_rows

    def of(self, deleted: DeletedFiles) -> Runs:
        """Those of data files that their delete file applies to."""
        table = pa.Table.from_batches(self.batches)
        paths = pa.concat_arrays([deleted.paths, *table.column("path").chunks])
        codes = paths.dictionary_encode().indices.to_numpy().astype(np.int64)
        runs = self._runs(table)
        pairs = codes[deleted.files] << 32 | deleted.delete_files
        order = np.argsort(pairs, kind="stable")
        wanted = codes[len(deleted.paths) :] << 32 | runs["delete_file"]
        low = np.searchsorted(pairs[order], wanted, "left")
        # A path that is there twice is two files, and both have the run.
        matches = np.searchsorted(pairs[order], wanted, "right") - low
        found = np.repeat(runs, matches)
        found["file"] = deleted.files[order[np.repeat(low, matches) + places_within(matches)]]
        return found

    def _runs(self, table: pa.Table) -> Runs:
        sizes = np.array([batch.num_rows for batch in self.batches])
        runs = np.zeros(self.rows, _RUN)
        for name in ("first", "last", "count"):
            runs[name] = table.column(name).to_numpy()
        runs["delete_file"] = np.repeat([delete_file for delete_file, _ in self.origins], sizes)
        runs["batch"] = np.repeat([batch for _, batch in self.origins], sizes)
        runs["row"] = places_within(sizes)
        return runs


def places_within(sizes: Numbers) -> Numbers:
    """Of things that lie in groups of some sizes: the place of each in its group."""
    ends = np.cumsum(sizes)
    return np.arange(ends[-1] if len(ends) else 0) - np.repeat(ends - sizes, sizes)
