"""Statistics as people read them: numbers, shares and bounds."""

import re
from typing import Final

from ai.floedb.floecat.catalog.stats_pb2 import (
    FileTargetStats,
    FrequentItem,
    Ndv,
    NdvMethod,
    ScalarStats,
    StatsCoverage,
    StatsMetadata,
    TableValueStats,
)
from floecat.cli.descriptions import enum_word, failure_text, in_full
from floecat.types.errors import InvalidTypeError
from floecat.types.messages import from_message

_FILLED, _EMPTY = "█", "░"
_UNITS: Final = ("B", "KiB", "MiB", "GiB", "TiB", "PiB")
_DECIMAL: Final = re.compile(r"-?[0-9]+(\.[0-9]+)?")
_REPLACED: Final = "\ufffd"
_STEP: Final = 1024
_THOUSAND: Final = 1000
_LONG: Final = 24
"""Of a bound or a value in a list; blocks about one column show all of it."""


def count_text(number: int) -> str:
    """A number with its thousands apart."""
    return f"{number:,}"


def counted(number: int, thing: str) -> str:
    """So many things, by the name of one: 1 row, 2 rows."""
    return f"{count_text(number)} {thing if number == 1 else f'{thing}s'}"


def short_count(number: float) -> str:
    """A number in a few characters: 950, 12.3k, 4.56M."""
    for size, unit in ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e4, "k")):
        if abs(number) >= size:
            scaled = number / (_THOUSAND if unit == "k" else size)
            return f"{scaled:.3g}{unit}" if scaled < _THOUSAND else f"{scaled:.0f}{unit}"
    return f"{number:,.0f}"


def size_text(size: int) -> str:
    """A number of bytes."""
    scaled, unit = float(size), _UNITS[0]
    for unit in _UNITS:  # noqa: B007 - the unit that fits is what is looked for
        if scaled < _STEP:
            break
        scaled /= _STEP
    return f"{size} B" if unit == "B" else f"{scaled:.1f} {unit}"


def type_text(stats: ScalarStats) -> str:
    """A column's type."""
    try:
        return str(from_message(stats.logical_type))
    except InvalidTypeError:
        return ""


def ndv_text(ndv: Ndv, *, short: bool = True) -> str:
    """How many distinct values: exactly, or about how many and between what."""
    number = short_count if short else lambda value: f"{value:,.0f}"
    match ndv.WhichOneof("value"):
        case "exact":
            return number(ndv.exact)
        case "approx":
            approx = ndv.approx
            text = f"~{number(approx.estimate)}"
            if approx.upper_bound_only:
                known = approx.HasField("upper_bound")
                return f"≤ {number(approx.upper_bound if known else approx.estimate)}"
            if approx.HasField("lower_bound") and approx.HasField("upper_bound"):
                return f"{text} ({number(approx.lower_bound)}–{number(approx.upper_bound)})"
            return text
        case _:
            return ""


def ndv_method(ndv: Ndv) -> str:
    """How that was found out, and from how much."""
    word = enum_word(NdvMethod.Name(ndv.method))
    if not ndv.HasField("rows_seen") or ndv.rows_seen == ndv.rows_total:
        return word
    if not ndv.HasField("rows_total"):
        return f"{word}, {counted(ndv.rows_seen, 'row')} seen"
    return f"{word}, {count_text(ndv.rows_seen)} of {counted(ndv.rows_total, 'row')} seen"


def null_share(stats: ScalarStats) -> float | None:
    """Which part of the values is NULL; None if that isn't known."""
    known = stats.HasField("null_count") and stats.HasField("value_count")
    if not known or stats.value_count <= 0:
        return 0.0 if known else None
    return min(1.0, max(0.0, stats.null_count / stats.value_count))


def null_text(stats: ScalarStats, width: int = 6) -> str:
    """The share of NULLs as a bar and a percentage."""
    share = null_share(stats)
    if share is None:
        return "?"
    return f"{bar(share, width)} {share_text(share)}"


def bar(share: float, width: int) -> str:
    """A share as a bar; anything that isn't nothing can be seen, and so can what isn't all."""
    filled = round(share * width)
    if share > 0:
        filled = max(1, filled)
    if share < 1:
        filled = min(width - 1, filled)
    return _FILLED * filled + _EMPTY * (width - filled)


def share_text(share: float) -> str:
    """A share in percent."""
    if share in (0.0, 1.0):
        return f"{share:.0%}"
    if share < 0.001:
        return "<0.1%"
    return ">99.9%" if share > 0.999 else f"{share:.1%}"


def range_text(stats: ScalarStats, longest: int | None = _LONG) -> str:
    """From the least to the greatest value; bounds that aren't tight say so."""
    least = _bound(stats, "min", longest)
    greatest = _bound(stats, "max", longest)
    if not least and not greatest:
        return ""
    return f"{least or '?'} … {greatest or '?'}"


def _bound(stats: ScalarStats, name: str, longest: int | None) -> str:
    if not stats.HasField(name):  # type: ignore[arg-type]  # min or max
        return ""
    text = value_text(stats, getattr(stats, name))
    tight: bool = getattr(stats, f"{name}_tight")
    mark = "" if tight else ("≥" if name == "min" else "≤")
    return mark + quoted(text, longest)


def value_text(stats: ScalarStats, text: str) -> str:
    """A value of a column: one of DECIMAL(p,s) has s digits after the point."""
    scale = _scale(stats)
    if not scale or not _DECIMAL.fullmatch(text):
        return text
    whole, _, fraction = text.partition(".")
    return f"{whole}.{fraction:0<{scale}}"


def _scale(stats: ScalarStats) -> int | None:
    try:
        return from_message(stats.logical_type).scale
    except InvalidTypeError:
        return None


def quoted(text: str, longest: int | None = _LONG) -> str:
    """A value; one that is empty or begins or ends with a space is shown in quotes, long ones cut.

    What it holds otherwise is made visible by whoever prints it.
    """
    cut = text if longest is None or len(text) <= longest else f"{text[: longest - 1]}…"
    return f"“{cut}”" if not text.strip() or text != text.strip() else cut


def top_text(stats: ScalarStats, shown: int = 3) -> str:
    """The most frequent values, each with its share."""
    return ", ".join(_top(stats, item, _LONG) for item in stats.frequent_items[:shown])


def top_lines(stats: ScalarStats) -> list[str]:
    """A line per frequent value, all of it; and what a character in them stands for, if need be."""
    lines = [_top(stats, item, None) for item in stats.frequent_items]
    if any(_REPLACED in item.value for item in stats.frequent_items):
        lines.append(f"({_REPLACED} is that character, or bytes that aren't UTF-8)")
    return lines


def _top(stats: ScalarStats, item: FrequentItem, longest: int | None) -> str:
    known = item.HasField("value")
    value = quoted(value_text(stats, item.value), longest) if known else "NULL"
    return f"{value} {_frequency(item, stats.value_count)}"


def _frequency(item: FrequentItem, total: int) -> str:
    if total <= 0:
        return f"×{short_count(item.count_estimate)}"
    about = "" if item.count_lower_bound == item.count_upper_bound else "~"
    return about + share_text(min(1.0, item.count_estimate / total))


def rows_text(value: TableValueStats) -> str:
    """How many rows a query sees, and how many there are in the files."""
    if not value.HasField("live_row_count"):
        return ""
    exact = "" if value.live_row_count_exact else " (an estimate: not every delete can be counted)"
    return f"{count_text(value.live_row_count)}{exact}"


def file_state(value: FileTargetStats) -> str:
    """What is to be said of a file besides its numbers."""
    if not value.failure:
        return ""
    return f"unreadable: {failure_text(value.failure, value.identity.file_path)}"


def deletes_text(value: TableValueStats) -> str:
    """What deletes take away from what is known of columns; empty if that is nothing."""
    deleted = value.row_count - value.live_row_count
    if not value.HasField("row_count") or not value.HasField("live_row_count") or deleted <= 0:
        return ""
    about = "" if value.live_row_count_exact else "about "
    are = "is" if deleted == 1 else "are"
    return (
        f"of {counted(value.row_count, 'row')} in files, {about}{count_text(deleted)} {are} "
        "deleted: what is said of columns includes them"
    )


def freshness(metadata: StatsMetadata, snapshot_id: int) -> str:
    """When something was captured, and from which snapshot."""
    when = in_full(metadata.captured_at) if metadata.HasField("captured_at") else "at some time"
    generation = f", generation {metadata.generation}" if metadata.generation else ""
    return f"{when} from snapshot {snapshot_id}{generation}"


def coverage_text(metadata: StatsMetadata) -> str:
    """How much was looked at."""
    coverage = metadata.coverage
    parts: list[str] = []
    if coverage.files_failed:
        parts.append(_unread(coverage))
    known = coverage.HasField("rows_seen") and coverage.HasField("rows_total")
    if known and coverage.rows_seen != coverage.rows_total:
        parts.append(f"{count_text(coverage.rows_seen)} of {counted(coverage.rows_total, 'row')}")
    if parts or not coverage.HasField("files_total"):
        return "; ".join(parts)
    return _all_files(coverage.files_total)


def _unread(coverage: StatsCoverage) -> str:
    failed, total = coverage.files_failed, coverage.files_total
    if not coverage.HasField("files_total"):
        return f"{counted(failed, 'file')} couldn't be read"
    if failed < total:
        return f"{count_text(failed)} of {counted(total, 'file')} couldn't be read"
    if total == 1:
        return "the only file couldn't be read"
    return f"none of {count_text(total)} files could be read"


def _all_files(total: int) -> str:
    match total:
        case 0:
            return "no files: there are none"
        case 1:
            return "the only file"
        case _:
            return f"all {count_text(total)} files"
