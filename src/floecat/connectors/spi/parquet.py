"""ParquetFooterStats: a parquet footer's statistics, looked at once for all columns."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from ai.floedb.floecat.catalog.stats_pb2 import NM_DICTIONARY, Ndv
from floecat.connectors.spi.ndv import ColumnNdv


class LeafFooter(NamedTuple):
    """What the footer says of a leaf, in one row group or in all of them. None is unknown."""

    value_count: int
    """Values including nulls; of leaves inside lists also the lists that are null or empty."""
    null_count: int | None = None
    low: Any = None
    """As the file has it inside."""
    high: Any = None
    distinct_count: int | None = None
    """Stated by the writer; hardly any does."""
    compressed_bytes: int = 0

    @property
    def is_all_null(self) -> bool:
        """Whether there is no value at all, so that there are no bounds to miss."""
        return self.null_count is not None and self.null_count >= self.value_count


@dataclass(frozen=True, slots=True)
class ParquetFooterStats:
    """Statistics by row group and leaf, from a footer that was read once."""

    row_counts: Sequence[int]
    """Per row group."""
    chunks: Sequence[Sequence[LeafFooter]]
    """Per row group, a chunk per leaf."""

    @property
    def num_rows(self) -> int:
        """Rows of the whole file."""
        return sum(self.row_counts)

    def leaf(self, leaf: int, read: Callable[[Any], Any]) -> LeafFooter:
        """One leaf in the whole file. What one row group doesn't say isn't known of the file.

        `read` makes values that compare of what the file has inside; None of what isn't a bound.
        """
        only = self.chunks[0][leaf] if len(self.chunks) == 1 else None
        if only is not None and only.value_count and not only.is_all_null:
            return only._replace(low=read(only.low), high=read(only.high))  # nothing to add up
        filled = [group[leaf] for group in self.chunks if group[leaf].value_count]
        bounding = [chunk for chunk in filled if not chunk.is_all_null]
        nulls = [chunk.null_count for chunk in filled if chunk.null_count is not None]
        return LeafFooter(
            value_count=sum(chunk.value_count for chunk in filled),
            null_count=sum(nulls) if len(nulls) == len(filled) else None,
            low=_best(min, [read(chunk.low) for chunk in bounding]),
            high=_best(max, [read(chunk.high) for chunk in bounding]),
            distinct_count=filled[0].distinct_count if len(filled) == 1 else None,
            compressed_bytes=sum(group[leaf].compressed_bytes for group in self.chunks),
        )


class ParquetNdvProvider:
    """Numbers of distinct values that the writer of one file stated in its footer."""

    def __init__(self, statistics: ParquetFooterStats, leaves: Mapping[int, int]) -> None:
        """`leaves`: the leaf that each column is, by column id."""
        self._statistics = statistics
        self._leaves = leaves

    def find_ndv(self, column_id: int) -> ColumnNdv | None:
        leaf = self._leaves.get(column_id)
        if leaf is None:
            return None
        footer = self._statistics.leaf(leaf, lambda _: None)
        if footer.distinct_count is None:
            return None
        ndv = Ndv(exact=footer.distinct_count, method=NM_DICTIONARY)
        ndv.rows_seen = ndv.rows_total = footer.value_count
        return ColumnNdv(ndv)


def _best(choose: Callable[[list[Any]], Any], values: list[Any]) -> Any:
    return None if not values or None in values else choose(values)
