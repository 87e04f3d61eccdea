"""Strings and bytes: by their dictionary where the file has one of all values, else one by one."""

from collections import Counter
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Any, Final

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.types as kinds
from typing_extensions import override

from floecat.capture.columns import WantedColumn
from floecat.capture.learning.base import Learning
from floecat.capture.learning.counting import counts_below
from floecat.capture.learning.cutting import LONGEST, cut_high, cut_low
from floecat.capture.learning.numbers import WrongTypeError
from floecat.capture.learning.ordering import byte_ends
from floecat.capture.learning.sketching import SMALL, Counts
from floecat.sketches.hashing import hash_bytes
from floecat.sketches.murmur import Words
from floecat.types.arrays.arrowtypes import is_binary, is_text
from floecat.types.kinds import Kind

KINDS: Final = frozenset({Kind.STRING, Kind.BINARY, Kind.UUID})
_REMEMBERED: Final = 4096
"""Bytes of a column's few values whose hashes are worth remembering."""


class Texts(Learning):
    """Learns of STRING, BINARY and UUID. Values are bytes here: their order is that of bytes."""

    takes_dictionaries = True

    def __init__(self, column: WantedColumn) -> None:
        super().__init__(column, has_ranks=False)
        self._low: bytes | None = None
        self._high: bytes | None = None
        self._bytes = 0
        self._counted_so_far: Counter[bytes] = Counter()

    @override
    def _learn(self, array: pa.Array) -> None:
        if kinds.is_dictionary(array.type):
            self._learn_dictionary(array)
        else:
            self._learn_all(self._series(array))

    def _learn_dictionary(self, array: pa.DictionaryArray) -> None:
        indices = array.indices.to_numpy(zero_copy_only=False)
        many = len(array.dictionary)
        # Without a sign negative ones are the greatest.
        if indices.view(f"u{indices.itemsize}").max() >= many:
            raise WrongTypeError("its pages point to values that its dictionary doesn't have")
        counts = counts_below(indices, many)
        values = self._series(array.dictionary)
        if many <= SMALL:
            self._put_off(values.to_list(), counts.tolist())
        else:
            places = np.flatnonzero(counts)
            self._learn_counted(values[pl.Series(places)], counts[places])

    def _put_off(self, values: list[bytes], counts: list[int]) -> None:
        """Every row group has a dictionary, mostly of the same few values: once is enough."""
        for value, count in zip(values, counts, strict=True):
            if count:
                self._counted_so_far[value] += count
        if len(self._counted_so_far) > SMALL:
            self._settle()

    @override
    def _settle(self) -> None:
        counted, self._counted_so_far = self._counted_so_far, Counter()
        if counted:
            self._learn_few(sorted(counted.items()))

    def _learn_few(self, counted: Sequence[tuple[bytes, int]]) -> None:
        """Distinct values, ascending, and how often each is there: some hundreds at most."""
        values = tuple(value for value, _ in counted)
        self._bytes += sum(len(value) * count for value, count in counted)
        self._widen(values[0], values[-1])
        sketching = self.sketching
        if sketching.theta is not None:
            sketching.add_hashes(_hashed(values))
        counts = np.array([count for _, count in counted], np.int64)
        sketching.add_counted(
            counts, lambda chosen: [self._text(values[place]) for place in chosen.tolist()]
        )
        sketching.keep(values)

    def _learn_counted(self, values: pl.Series, counts: Counts) -> None:
        """Distinct values, and how often each is there."""
        lengths = values.bin.size().to_numpy()
        self._bytes += int(np.dot(lengths.astype(np.int64), counts))
        self._widen(*byte_ends(values))
        sketching = self.sketching
        if sketching.theta is not None:
            sketching.add_hashes(hash_bytes(values))
        sketching.add_counted(counts, lambda chosen: self._texts(values, chosen))
        sketching.keep(values.to_list() if len(values) <= SMALL else None)

    def _learn_all(self, values: pl.Series) -> None:
        self._bytes += int(values.bin.size().sum())
        self._widen(*byte_ends(values))
        sketching = self.sketching
        if sketching.needs_hashes:
            hashes = hash_bytes(values)
            sketching.add_hashes(hashes)
            if sketching.are_few:
                distinct, counts = _counted(values)
                sketching.add_counted(counts, lambda chosen: self._texts(distinct, chosen))
                sketching.keep(distinct.to_list())
                return
            sketching.add_frequent_of(
                hashes, lambda chosen: self._counted_texts(values.filter(pl.Series(chosen)))
            )
        sketching.keep(None)

    def _widen(self, low: bytes, high: bytes) -> None:
        self._low = low if self._low is None else min(self._low, low)
        self._high = high if self._high is None else max(self._high, high)

    def _series(self, array: pa.Array) -> pl.Series:
        kind = array.type
        if isinstance(kind, pa.BaseExtensionType):
            array, kind = array.storage, array.storage.type
        if not (is_text(kind) or is_binary(kind)):
            raise WrongTypeError(
                f"it is {kind} in the file, and {self.column.logical_type} in the schema"
            )
        if kinds.is_fixed_size_binary(kind):
            array = array.cast(pa.large_binary())
        series = pl.Series(pl.from_arrow(array))
        return series if series.dtype == pl.Binary else series.cast(pl.Binary)

    def _counted_texts(self, values: pl.Series) -> Iterable[tuple[str, int]]:
        distinct, counts = _counted(values)
        return zip(map(self._text, distinct), counts.tolist(), strict=True)

    def _texts(self, distinct: pl.Series, chosen: Counts) -> Iterable[str]:
        return map(self._text, distinct[pl.Series(chosen)])

    @override
    def _text(self, value: Any) -> str:
        """Texts as they are; what isn't UTF-8 with replacement characters, so that it is shown."""
        if self.column.logical_type.kind is Kind.STRING:
            return str(value, "utf-8", "replace")
        return super()._text(value) or ""

    @override
    def _ends(self) -> tuple[object, object] | None:
        if self._low is None or self._high is None:
            return None
        is_text = self.column.logical_type.kind is Kind.STRING
        low, high = cut_low(self._low), cut_high(self._high, is_text=is_text)
        return (_decoded(low), _decoded(high)) if is_text else (low, high)

    @property
    @override
    def _ends_are_values(self) -> tuple[bool, bool]:
        low, high = self._low or b"", self._high or b""
        return len(low) <= LONGEST, len(high) <= LONGEST

    @property
    @override
    def _width(self) -> int:
        return self._bytes


def _decoded(value: bytes | None) -> object:
    """Text; or, when it isn't UTF-8, what has no canonical string and so makes no bound."""
    try:
        return None if value is None else value.decode()
    except UnicodeDecodeError:
        return value


def _counted(values: pl.Series) -> tuple[pl.Series, Counts]:
    """Distinct values, and how often each is there."""
    counted = values.value_counts()
    return counted.to_series(0), counted.to_series(1).to_numpy().astype(np.int64)


def _hashed(values: tuple[bytes, ...]) -> Words:
    """Columns of few values have the same ones in file after file, so short ones are remembered."""
    short = sum(map(len, values)) <= _REMEMBERED
    return _hashed_once(values) if short else _hashed_now(values)


def _hashed_now(values: tuple[bytes, ...]) -> Words:
    hashes = hash_bytes(pl.Series(values, dtype=pl.Binary))
    hashes.flags.writeable = False  # others may be given the same
    return hashes


_hashed_once = lru_cache(maxsize=256)(_hashed_now)
