"""ParquetFooterStats: a parquet footer's statistics, looked at once for all columns."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow.parquet as pq


@dataclass(frozen=True, slots=True)
class LeafFooter:
    """What the footer says of a leaf, in one row group or in all of them. None is unknown."""

    value_count: int
    """Values including nulls; of leaves inside lists also the lists that are null or empty."""
    null_count: int | None
    low: Any
    """As the file has it inside: a number, a float or bytes."""
    high: Any
    distinct_count: int | None
    """Stated by the writer; hardly any does."""
    compressed_bytes: int

    @property
    def has_bounds(self) -> bool:
        """Whether both bounds are known."""
        return self.low is not None and self.high is not None

    @property
    def is_all_null(self) -> bool:
        """Whether there is no value at all, so that there are no bounds to miss."""
        return self.null_count is not None and self.null_count >= self.value_count


class ParquetFooterStats:
    """Statistics by leaf, from one footer that was read once."""

    def __init__(self, metadata: pq.FileMetaData) -> None:
        self._groups = [metadata.row_group(n) for n in range(metadata.num_row_groups)]
        self.row_counts: Sequence[int] = [group.num_rows for group in self._groups]
        self.num_rows: int = metadata.num_rows

    def chunk(self, leaf: int, row_group: int) -> LeafFooter:
        """One leaf in one row group."""
        chunk = self._groups[row_group].column(leaf)
        statistics: Any = chunk.statistics if chunk.is_stats_set else None
        if statistics is None:
            return LeafFooter(chunk.num_values, None, None, None, None, chunk.total_compressed_size)
        bounded = statistics.has_min_max
        return LeafFooter(
            value_count=chunk.num_values,
            null_count=statistics.null_count if statistics.has_null_count else None,
            low=statistics.min_raw if bounded else None,
            high=statistics.max_raw if bounded else None,
            distinct_count=statistics.distinct_count if statistics.has_distinct_count else None,
            compressed_bytes=chunk.total_compressed_size,
        )

    def leaf(self, leaf: int, read: Callable[[Any], Any]) -> LeafFooter:
        """One leaf in the whole file. What one row group doesn't say isn't known of the file.

        `read` makes values that compare of what the file has inside; None of what isn't a bound.
        """
        chunks = [self.chunk(leaf, group) for group in range(len(self._groups))]
        filled = [chunk for chunk in chunks if chunk.value_count]
        bounding = [chunk for chunk in filled if not chunk.is_all_null]
        nulls = [chunk.null_count for chunk in filled if chunk.null_count is not None]
        distinct = filled[0].distinct_count if len(filled) == 1 else None
        return LeafFooter(
            value_count=sum(chunk.value_count for chunk in chunks),
            null_count=sum(nulls) if len(nulls) == len(filled) else None,
            low=_best(min, [read(chunk.low) for chunk in bounding]),
            high=_best(max, [read(chunk.high) for chunk in bounding]),
            distinct_count=distinct,
            compressed_bytes=sum(chunk.compressed_bytes for chunk in chunks),
        )


def _best(choose: Callable[[list[Any]], Any], values: list[Any]) -> Any:
    return None if not values or None in values else choose(values)
