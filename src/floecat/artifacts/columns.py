"""ColumnRow: what is known about one column, of one file or of many.

It is a row of a segment's part, and what statistics of files, columns and tables are made from.
"""

from collections.abc import Iterable
from dataclasses import dataclass, fields
from operator import attrgetter
from typing import Any, Final

import pyarrow as pa

from ai.floedb.floecat.catalog.stats_pb2 import (
    NM_DICTIONARY,
    NM_EXACT,
    NM_THETA,
    SR_FREQUENT_ITEMS,
    SR_NDV,
    SR_QUANTILES,
    FrequentItem,
    Ndv,
    NdvApprox,
    Quantiles,
    ScalarStats,
    Sketch,
)
from ai.floedb.floecat.execution.stored_pb2 import ColumnCoverage
from floecat.connectors.spi.ndv import ColumnNdv, SamplingNdvProvider, StaticOnceNdvProvider
from floecat.sketches.frequencies import LG_SIZE, FrequencySketch
from floecat.sketches.murmur import SEED
from floecat.sketches.quantiles import QUANTILES_TYPE, K, QuantileSketch
from floecat.sketches.theta import LG_K, ThetaSketch

THETA_TYPE: Final = "apache-datasketches-theta-v1"
FREQUENCIES_TYPE: Final = "apache-datasketches-frequent-strings-v1"
RANKS: Final = tuple(step / 20 for step in range(21))
_TOP: Final = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnRow:
    """None means unknown, which isn't zero."""

    value_count: int | None = None
    """Values including nulls and NaN."""
    null_count: int | None = None
    nan_count: int | None = None
    minimum: str | None = None
    """Canonical."""
    maximum: str | None = None
    minimum_tight: bool = False
    maximum_tight: bool = False
    width_bytes: int | None = None
    """Of all values that aren't null, together."""
    rows_seen: int | None = None
    """Values that the sketches were made from, nulls included; fewer than there are if sampled."""
    dictionary_ndv: int | None = None
    """Distinct values, when dictionaries held all of them."""
    theta: bytes | None = None
    quantiles: bytes | None = None
    frequencies: bytes | None = None
    frequency_error: int = 0
    """How much more often than the sketch knows a value that isn't long may have been seen."""


def sketch_bytes(row: ColumnRow | None) -> int:
    """What a row's sketches take up."""
    if row is None:
        return 0
    return sum(len(part) for part in (row.theta, row.quantiles, row.frequencies) if part)


SCHEMA: Final = pa.schema(
    [
        pa.field("column_id", pa.int32(), nullable=False),
        ("value_count", pa.int64()),
        ("null_count", pa.int64()),
        ("nan_count", pa.int64()),
        ("minimum", pa.large_string()),
        ("maximum", pa.large_string()),
        ("minimum_tight", pa.bool_()),
        ("maximum_tight", pa.bool_()),
        ("width_bytes", pa.int64()),
        ("rows_seen", pa.int64()),
        ("dictionary_ndv", pa.int64()),
        ("theta", pa.large_binary()),
        ("quantiles", pa.large_binary()),
        ("frequencies", pa.large_binary()),
        ("frequency_error", pa.int64()),
        pa.field("present", pa.bool_(), nullable=False),
    ]
)
"""Of a batch: one column, a row per file. Rows of files that don't have it aren't `present`."""
_FIELDS: Final = tuple(part.name for part in fields(ColumnRow))


_VALUES: Final = attrgetter(*_FIELDS)


def to_batch(column_id: int, rows: Iterable[ColumnRow | None]) -> pa.RecordBatch:
    """A column's rows, one per file; None where nothing was learnt of it."""
    listed = list(rows)
    nothing = (None,) * len(_FIELDS)
    values = [nothing if row is None else _VALUES(row) for row in listed]
    columns: dict[str, Any] = {
        name: [value[place] for value in values] for place, name in enumerate(_FIELDS)
    }
    columns["column_id"] = [column_id] * len(listed)
    columns["present"] = [row is not None for row in listed]
    arrays = [pa.array(columns[part.name], part.type) for part in SCHEMA]
    return pa.RecordBatch.from_arrays(arrays, schema=SCHEMA)


def from_batch(batch: pa.RecordBatch, row: int) -> ColumnRow | None:
    """One row of a batch; None where nothing was learnt."""
    if not batch.column("present")[row].as_py():
        return None
    return ColumnRow(**{name: batch.column(name)[row].as_py() for name in _FIELDS})


def all_rows(batch: pa.RecordBatch) -> list[ColumnRow | None]:
    """Every row of a batch: much quicker than one after another."""
    columns = [batch.column(name).to_pylist() for name in _FIELDS]
    rows = zip(*columns, strict=True)
    present = batch.column("present").to_pylist()
    return [
        ColumnRow(**dict(zip(_FIELDS, row, strict=True))) if there else None
        for row, there in zip(rows, present, strict=True)
    ]


def to_scalar(coverage: ColumnCoverage, row: ColumnRow, *, sketches: bool = False) -> ScalarStats:
    """The row as the contract has it, with the sketches' bytes if they are wanted."""
    stats = ScalarStats(
        display_name=coverage.name,
        logical_type=coverage.logical_type,
        value_count=row.value_count,
        null_count=row.null_count,
        nan_count=row.nan_count,
    )
    if row.minimum is not None:
        stats.min, stats.min_tight = row.minimum, row.minimum_tight
    if row.maximum is not None:
        stats.max, stats.max_tight = row.maximum, row.maximum_tight
    _add_width(stats, row)
    _add_ndv(stats, row, sketches=sketches)
    _add_quantiles(stats, row, sketches=sketches)
    _add_frequencies(stats, row, sketches=sketches)
    return stats


def _add_width(stats: ScalarStats, row: ColumnRow) -> None:
    if row.width_bytes is None or row.value_count is None or row.null_count is None:
        return
    present = row.value_count - row.null_count
    if present > 0:
        stats.average_width_bytes = row.width_bytes / present


def _add_ndv(stats: ScalarStats, row: ColumnRow, *, sketches: bool) -> None:
    if row.theta is None:
        if row.dictionary_ndv is not None:
            stats.ndv.CopyFrom(Ndv(exact=row.dictionary_ndv, method=NM_DICTIONARY))
            _add_seen(stats.ndv, row)
        return
    theta = ThetaSketch.from_bytes(row.theta)
    found = _ndv(row, theta)
    _add_seen(found, row)
    sampled = SamplingNdvProvider(StaticOnceNdvProvider({0: ColumnNdv(found)}), _filled(row))
    known = sampled.find_ndv(0)
    stats.ndv.CopyFrom(found if known is None else known.ndv)
    parameters = {"lg_k": str(LG_K), "seed": str(SEED), "ndv": str(round(theta.estimate))}
    stats.sketches.append(_sketch(SR_NDV, THETA_TYPE, parameters, row.theta, sketches))


def _filled(row: ColumnRow) -> dict[int, int]:
    """How many values aren't NULL, by the number that the column has here."""
    if row.value_count is None or row.null_count is None:
        return {}
    return {0: row.value_count - row.null_count}


def _ndv(row: ColumnRow, theta: ThetaSketch) -> Ndv:
    everything = row.rows_seen is None or row.rows_seen == row.value_count
    if everything and row.dictionary_ndv is not None:
        return Ndv(exact=row.dictionary_ndv, method=NM_DICTIONARY)
    if theta.is_exact:
        return Ndv(exact=len(theta.hashes), method=NM_EXACT)
    low, high = theta.bounds()
    approx = NdvApprox(estimate=theta.estimate, lower_bound=low, upper_bound=high)
    return Ndv(approx=approx, method=NM_THETA)


def _add_seen(ndv: Ndv, row: ColumnRow) -> None:
    if row.value_count is not None:
        ndv.rows_total = row.value_count
        ndv.rows_seen = row.value_count if row.rows_seen is None else row.rows_seen


def _add_quantiles(stats: ScalarStats, row: ColumnRow, *, sketches: bool) -> None:
    if row.quantiles is None:
        return
    sketch = QuantileSketch.from_bytes(row.quantiles)
    if sketch.count:
        values = sketch.quantiles(RANKS)
        stats.quantiles.CopyFrom(
            Quantiles(ranks=RANKS, values=values, rank_error=sketch.rank_error)
        )
    parameters = {"k": str(K)}
    stats.sketches.append(
        _sketch(SR_QUANTILES, QUANTILES_TYPE, parameters, row.quantiles, sketches)
    )


def _add_frequencies(stats: ScalarStats, row: ColumnRow, *, sketches: bool) -> None:
    if row.frequencies is None:
        return
    sketch = FrequencySketch.from_bytes(row.frequencies)
    unseen = (row.value_count or 0) - (row.rows_seen or 0) if row.rows_seen is not None else 0
    scale = 1 + unseen / row.rows_seen if row.rows_seen and unseen > 0 else 1.0
    stats.frequent_items.extend(
        FrequentItem(
            value=found.value,
            count_estimate=round(found.estimate * scale),
            count_lower_bound=found.at_least,
            # Every row that wasn't seen could have it.
            count_upper_bound=found.at_most + row.frequency_error + max(unseen, 0),
        )
        for found in sketch.top(_TOP)
        if found.at_least > row.frequency_error
    )
    parameters = {"lg_max_map_size": str(LG_SIZE), "error": str(row.frequency_error)}
    stats.sketches.append(
        _sketch(SR_FREQUENT_ITEMS, FREQUENCIES_TYPE, parameters, row.frequencies, sketches)
    )


def _sketch(role: Any, kind: str, parameters: dict[str, str], data: bytes, wanted: bool) -> Sketch:
    return Sketch(
        role=role,
        type=kind,
        parameters=parameters,
        data=data if wanted else b"",
        size_bytes=len(data),
    )
