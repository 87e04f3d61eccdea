"""What a task leaves behind of its files: a row per file and column, with sketches or without."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from ai.floedb.floecat.execution.stored_pb2 import SegmentPart
from floecat.artifacts.columns import ColumnRow, sketch_bytes
from floecat.artifacts.merging import ColumnMerge
from floecat.artifacts.payloads import reference
from floecat.artifacts.segments import write_columns
from floecat.capture.columns import FilePolicy
from floecat.storage.blobs.port import BlobStore

Columns = Mapping[int, Sequence[ColumnRow | None]]
"""By column, a row per file."""
Asked = Sequence[frozenset[int]]
"""Of each file, the columns that it was read for."""


class PartWriter:
    """Writes parts of a segment below its prefix."""

    def __init__(self, blobs: BlobStore, prefix: str, policy: FilePolicy) -> None:
        self._blobs = blobs
        self._prefix = prefix
        self._types = {c.column_id: c.logical_type for c in (*policy.others, *policy.columns)}

    def write(self, part: SegmentPart, name: str, columns: Columns) -> None:
        """Write what is known of each file of the part."""
        written = write_columns(self._blobs, f"{self._prefix}/parts/{name}", columns)
        part.columns.CopyFrom(reference(written))
        part.sketch_bytes = sum(sketch_bytes(row) for rows in columns.values() for row in rows)

    def write_together(self, part: SegmentPart, name: str, columns: Columns, asked: Asked) -> None:
        """Write the same without sketches, which are kept of all files together."""
        together: dict[int, list[ColumnRow | None]] = {}
        for number, rows in columns.items():
            # A file that wasn't asked for the column has nothing to do with it; one that was and
            # has no answer leaves all of them without.
            known = zip(rows, part.files, asked, strict=True)
            counted = [(row, file.stats.row_count) for row, file, ids in known if number in ids]
            together[number] = [self._merged(number, counted)]
        written = write_columns(self._blobs, f"{self._prefix}/together/{name}", together)
        part.together.CopyFrom(reference(written))
        self.write(part, name, {n: list(map(_without_sketches, columns[n])) for n in columns})

    def _merged(self, number: int, rows: Iterable[tuple[ColumnRow | None, int]]) -> ColumnRow:
        merge = ColumnMerge(self._types[number])
        for row, count in rows:
            merge.add(row, count)
        return merge.result()


def _without_sketches(row: ColumnRow | None) -> ColumnRow | None:
    if row is None:
        return None
    return replace(row, theta=None, quantiles=None, frequencies=None, frequency_error=0)
