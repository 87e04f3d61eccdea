"""Statistics as people read them: numbers, shares, bounds, and the shape of a distribution."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Final

from ai.floedb.floecat.catalog.stats_pb2 import (
    FileTargetStats,
    FrequentItem,
    Ndv,
    NdvMethod,
    Quantiles,
    ScalarStats,
    StatsCoverage,
    StatsMetadata,
    TableValueStats,
)
from floecat.cli.descriptions import enum_word, in_full
from floecat.types.errors import InvalidTypeError
from floecat.types.messages import from_message

_BLOCKS: Final = "▁▂▃▄▅▆▇█"
_FILLED, _EMPTY = "█", "░"
_UNITS: Final = ("B", "KiB", "MiB", "GiB", "TiB", "PiB")
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
    text: str = getattr(stats, name)
    tight: bool = getattr(stats, f"{name}_tight")
    mark = "" if tight else ("≥" if name == "min" else "≤")
    return mark + quoted(text, longest)


def quoted(text: str, longest: int | None = _LONG) -> str:
    """A value; one that is empty or begins or ends with a space is shown in quotes, long ones cut.

    What it holds otherwise is made visible by whoever prints it.
    """
    cut = text if longest is None or len(text) <= longest else f"{text[: longest - 1]}…"
    return f"“{cut}”" if not text.strip() or text != text.strip() else cut


def sparkline(quantiles: Quantiles, width: int = 12) -> str:
    """How values are distributed between the least and the greatest: more is higher."""
    values, ranks = list(quantiles.values), list(quantiles.ranks)
    if len(values) < 2 or len(values) != len(ranks) or not values[-1] > values[0]:
        return ""
    weights = _weights(values, ranks, width)
    most = max(weights)
    if not most > 0:
        return ""
    return "".join(_BLOCKS[round(weight / most * (len(_BLOCKS) - 1))] for weight in weights)


def _weights(values: Sequence[float], ranks: Sequence[float], width: int) -> list[float]:
    """The share of values in each of so many parts of equal length."""
    low, span = values[0], values[-1] - values[0]
    weights = [0.0] * width
    for (first, second), (from_, to) in zip(pairwise(values), pairwise(ranks), strict=True):
        share = to - from_
        if second <= first:  # many rows have this very value
            weights[_place(first, low, span, width)] += share
            continue
        start, end = (first - low) / span * width, (second - low) / span * width
        for place in range(int(start), min(width, int(end) + 1)):
            overlap = min(end, place + 1) - max(start, place)
            weights[place] += share * max(0.0, overlap) / (end - start)
    return weights


def _place(value: float, low: float, span: float, width: int) -> int:
    return min(width - 1, max(0, int((value - low) / span * width)))


def top_text(items: Sequence[FrequentItem], total: int, shown: int = 3) -> str:
    """The most frequent values, each with its share."""
    return ", ".join(_top(item, total, _LONG) for item in items[:shown])


def top_lines(items: Sequence[FrequentItem], total: int) -> list[str]:
    """A line per frequent value, all of it; and what a character in them stands for, if need be."""
    lines = [_top(item, total, None) for item in items]
    if any(_REPLACED in item.value for item in items):
        lines.append(f"({_REPLACED} is that character, or bytes that aren't UTF-8)")
    return lines


def _top(item: FrequentItem, total: int, longest: int | None) -> str:
    value = quoted(item.value, longest) if item.HasField("value") else "NULL"
    return f"{value} {_frequency(item, total)}"


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
    return f"unreadable: {value.failure}" if value.failure else ""


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
