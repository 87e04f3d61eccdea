"""How `floecat stats` shows records: fields of one, a row for each of many."""

from collections.abc import Callable, Sequence
from typing import Any, Final

from ai.floedb.floecat.catalog.stats_pb2 import FileTargetStats, TargetStatsRecord
from floecat.cli import stats_texts
from floecat.cli.descriptions import pair_lines
from floecat.cli.output import columns_that_fit, note, print_table
from floecat.cli.pages import Fetched
from floecat.cli.quantile_texts import quantile_text
from floecat.cli.stats_drawn import sparkline

_EXTRAS: Final = frozenset({"DISTRIBUTION", "MOST FREQUENT"})
"""They are left out rather than have the others folded for them."""


def table_fields(record: TargetStatsRecord) -> dict[str, str | list[str]]:
    """A table, a line for each thing that is known."""
    value = record.table
    deletes = ""
    if value.delete_file_count:
        size = stats_texts.size_text(value.delete_size_bytes)
        deletes = f"{stats_texts.count_text(value.delete_file_count)} ({size})"
    return {
        "rows": stats_texts.rows_text(value),
        "rows in files": optional_count(value, "row_count"),
        "data files": optional_count(value, "data_file_count"),
        "size": stats_texts.size_text(value.data_size_bytes),
        "delete files": deletes,
        "seen": stats_texts.coverage_text(record.metadata),
        "captured": stats_texts.freshness(record.metadata, record.snapshot_id),
        "by": record.metadata.producer,
        "job": record.metadata.job_id,
        "properties": pair_lines(record.properties),
    }


def column_fields(record: TargetStatsRecord) -> dict[str, str | list[str]]:
    """A column, a line for each thing that is known."""
    stats = record.scalar
    quantiles = [
        f"{stats_texts.share_text(rank)}: {quantile_text(stats, value)}"
        for rank, value in zip(stats.quantiles.ranks, stats.quantiles.values, strict=False)
        if round(rank * 20) in _RANKS
    ]
    return {
        "column": stats.display_name,
        "id": str(record.target.column.column_id),
        "type": stats_texts.type_text(stats),
        "values": optional_count(stats, "value_count"),
        "nulls": stats_texts.null_text(stats, width=20),
        "NaN": optional_count(stats, "nan_count") if stats.nan_count else "",
        "distinct": stats_texts.ndv_text(stats.ndv, short=False),
        "found by": stats_texts.ndv_method(stats.ndv),
        "range": stats_texts.range_text(stats, None),
        "distribution": sparkline(stats, _BARS),
        "quantiles": ", ".join(quantiles),
        "most frequent": stats_texts.top_lines(stats),
        "average width": (
            f"{stats.average_width_bytes:.1f} B" if stats.HasField("average_width_bytes") else ""
        ),
        "seen": stats_texts.coverage_text(record.metadata),
        "captured": stats_texts.freshness(record.metadata, record.snapshot_id),
    }


_BARS: Final = 24
"""With more of them each would hold so few points of a sketch that chance is drawn."""
_RANKS: Final = frozenset({0, 1, 5, 10, 15, 19, 20})
"""Twentieths: the ends, the quarters, and five percent from each end."""


def print_columns(found: Fetched[TargetStatsRecord]) -> None:
    """As much of each column as the terminal has room for."""
    cells: dict[str, Callable[[TargetStatsRecord], str]] = {
        "COLUMN": lambda r: r.scalar.display_name or f"#{r.target.column.column_id}",
        "TYPE": lambda r: stats_texts.type_text(r.scalar),
        "DISTINCT": lambda r: stats_texts.ndv_text(r.scalar.ndv),
        "NULLS": lambda r: stats_texts.null_text(r.scalar),
        "MIN … MAX": lambda r: stats_texts.range_text(r.scalar),
        "DISTRIBUTION": lambda r: sparkline(r.scalar),
        "MOST FREQUENT": lambda r: stats_texts.top_text(r.scalar),
    }
    texts = {title: [cell(record) for record in found.items] for title, cell in cells.items()}
    filled_in = {title: column for title, column in texts.items() if any(column)}
    shown = columns_that_fit(filled_in, foldable=len(filled_in.keys() - _EXTRAS))
    rows = zip(*(filled_in[title] for title in shown), strict=True)
    print_table(shown, [list(row) for row in rows])
    _say_what_is_left_out(list(filled_in)[len(shown) :])
    if found.more:
        note(f"… and more: --limit showed the first {len(found.items)}")
    first = found.items[0]
    note(f"captured {stats_texts.freshness(first.metadata, first.snapshot_id)}")


def _say_what_is_left_out(titles: Sequence[str]) -> None:
    if titles:
        note(
            f"no room for {', '.join(titles)}: a wider terminal shows more, and --column NAME "
            "all of one column"
        )


def filled(
    cells: dict[str, Callable[[Any], str]], records: Sequence[TargetStatsRecord]
) -> dict[str, Callable[[Any], str]]:
    """Without columns that nothing would be in."""
    kept = next(iter(cells))
    return {name: cell for name, cell in cells.items() if name == kept or any(map(cell, records))}


def optional_count(value: Any, name: str) -> str:
    """A count; empty when it isn't known."""
    return stats_texts.count_text(getattr(value, name)) if value.HasField(name) else ""


def partition_text(file: FileTargetStats) -> str:
    """The partition that a file lies in."""
    return ", ".join(
        f"{value.name}={value.value if value.HasField('value') else 'NULL'}"
        for value in file.partition_values
    )


def bounds_of(column_id: int) -> Callable[[TargetStatsRecord], str]:
    """The cell that shows a column's bounds in a file."""

    def cell(record: TargetStatsRecord) -> str:
        for column in record.file.columns:
            if column.column_id == column_id:
                return stats_texts.range_text(column.scalar)
        return ""

    return cell
