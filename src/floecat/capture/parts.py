"""What a task leaves behind of its files: a row per file and column, with sketches or without."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from ai.floedb.floecat.execution.stored_pb2 import SegmentPart
from floecat.artifacts.columns import ColumnRow
from floecat.artifacts.merging import ColumnMerge
from floecat.artifacts.payloads import reference
from floecat.artifacts.segments import write_columns
from floecat.capture.columns import FilePolicy
from floecat.storage.blobs.port import BlobStore

Columns = Mapping[int, Sequence[ColumnRow | None]]
"""By column, a row per file."""


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

    def write_together(self, part: SegmentPart, name: str, columns: Columns) -> None:
        """Write the same without sketches, which are kept of all files together."""
        counts = [file.stats.row_count for file in part.files]
        together = {number: [self._merged(number, columns[number], counts)] for number in columns}
        written = write_columns(self._blobs, f"{self._prefix}/together/{name}", together)
        part.partials.CopyFrom(reference(written))
        self.write(part, name, {n: list(map(_without_sketches, columns[n])) for n in columns})

    def _merged(
        self, number: int, rows: Sequence[ColumnRow | None], counts: Sequence[int]
    ) -> ColumnRow:
        merge = ColumnMerge(self._types[number])
        for row, count in zip(rows, counts, strict=True):
            merge.add(row, count)
        return merge.result()


def _without_sketches(row: ColumnRow | None) -> ColumnRow | None:
    if row is None:
        return None
    return replace(row, theta=None, quantiles=None, frequencies=None, frequency_error=0)
