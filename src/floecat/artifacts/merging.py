"""Many rows of one column as one: counts add up, bounds widen, sketches unite."""

from floecat.artifacts.columns import ColumnRow
from floecat.connectors.spi.merging import MOST, ScalarMerge
from floecat.sketches.frequencies import FrequencySketch
from floecat.sketches.quantiles import QuantileSketch
from floecat.sketches.theta import ThetaUnion
from floecat.types.logical import LogicalType


class ColumnMerge:
    """Takes a column's rows one after another; holds one row's worth of memory.

    What one file doesn't know, the whole doesn't know either; a file without rows adds nothing.
    """

    def __init__(self, logical: LogicalType) -> None:
        self._plain = ScalarMerge(logical)
        self._rows = 0
        self._width: int | None = 0
        self._seen: int | None = 0
        self._theta: ThetaUnion | None = ThetaUnion()
        self._quantiles: QuantileSketch | None = QuantileSketch()
        self._frequencies: FrequencySketch | None = FrequencySketch()
        self._frequency_error = 0
        self._dictionary_ndv: int | None = None

    def add(self, row: ColumnRow | None, rows: int | None = None) -> None:
        """One file's row; None when nothing is known of it. `rows` is what the file has."""
        known = ColumnRow() if row is None else row
        if (known.value_count if known.value_count is not None else rows) == 0:
            return
        self._rows += 1
        # Dictionaries of several files may share values, so only one file's count stands.
        self._dictionary_ndv = known.dictionary_ndv if self._rows == 1 else None
        self._plain.add_plain(known)
        self._width = _sum(self._width, known.width_bytes)
        self._seen = _sum(self._seen, known.rows_seen)
        self._add_sketches(known)

    def stand_in(self, theta: bytes) -> None:
        """Count the values of files whose own rows count none."""
        if self._theta is not None:
            self._theta.add(theta)

    def _add_sketches(self, row: ColumnRow) -> None:
        if self._theta is not None and row.theta is not None:
            self._theta.add(row.theta)
        else:
            self._theta = None
        if self._quantiles is not None and row.quantiles is not None:
            self._quantiles.merge(QuantileSketch.from_bytes(row.quantiles))
        else:
            self._quantiles = None
        if self._frequencies is not None and row.frequencies is not None:
            self._frequencies.merge(FrequencySketch.from_bytes(row.frequencies))
            self._frequency_error += row.frequency_error
        else:
            self._frequencies = None

    def result(self) -> ColumnRow:
        """All of them together."""
        plain = self._plain.result()
        return ColumnRow(
            value_count=plain.value_count if plain.HasField("value_count") else None,
            null_count=plain.null_count if plain.HasField("null_count") else None,
            nan_count=plain.nan_count if plain.HasField("nan_count") else None,
            minimum=plain.min if plain.HasField("min") else None,
            maximum=plain.max if plain.HasField("max") else None,
            minimum_tight=plain.min_tight,
            maximum_tight=plain.max_tight,
            width_bytes=self._width,
            rows_seen=self._seen,
            dictionary_ndv=self._dictionary_ndv,
            theta=None if self._theta is None else self._theta.to_bytes(),
            quantiles=None if self._quantiles is None else self._quantiles.to_bytes(),
            frequencies=None if self._frequencies is None else self._frequencies.to_bytes(),
            frequency_error=self._frequency_error,
        )


def _sum(total: int | None, part: int | None) -> int | None:
    return None if total is None or part is None else min(total + part, MOST)
