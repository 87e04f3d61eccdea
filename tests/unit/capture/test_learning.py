"""Texts and numbers as they are learnt of: few or many, counted or one by one, in any order."""

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.captures import access_to, captured, planned, scalar_of, written

from floecat.capture.columns import FilePolicy, WantedColumn
from floecat.capture.files import capture_file
from floecat.capture.learning.numbers import WrongTypeError, shortest_bytes
from floecat.capture.learning.ordering import byte_ends
from floecat.capture.learning.texts import Texts
from floecat.sketches.frequencies import FrequencySketch
from floecat.sketches.hashing import hash_bytes
from floecat.sketches.quantiles import QuantileSketch
from floecat.sketches.theta import ThetaSketch
from floecat.types.kinds import Kind
from floecat.types.logical import LogicalType

RANKS = [number / 50 for number in range(1, 50)]


@given(st.lists(st.binary(max_size=20), min_size=1, max_size=50), st.data())
def test_ends_of_bytes(values: list[bytes], data: st.DataObject) -> None:
    # The same beginnings, zeros at the end, and a series that is a part of another.
    series = pl.Series([b"", *values, *(b"abcd" + value for value in values)], dtype=pl.Binary)
    series = series.append(pl.Series([b"later"], dtype=pl.Binary))
    start = data.draw(st.integers(0, len(series) - 1))
    part = series[start:]
    assert byte_ends(part) == (min(part.to_list()), max(part.to_list()))


@pytest.mark.parametrize("distinct", [3, 200, 300, 5000])
def test_dictionaries_of_row_groups_are_one_column(distinct: int, tmp_path: Path) -> None:
    rng = np.random.default_rng(distinct)
    texts = [f"value {number}" for number in rng.integers(0, distinct, 40_000)]
    texts[0], texts[7] = "first", "z" * 600
    table = pa.table({"t": pa.array(texts).dictionary_encode().cast(pa.string())})
    by_dictionary = captured(written(tmp_path, table, "a.parquet", row_group_size=3000))
    one_by_one = captured(
        written(tmp_path, table, "b.parquet", row_group_size=3000, use_dictionary=False)
    )
    found, other = (file.rows[1] for file in (by_dictionary, one_by_one))
    assert found.theta is not None
    assert found.theta == other.theta
    assert ThetaSketch.from_bytes(found.theta).estimate == pytest.approx(
        len(set(texts)), rel=0.05, abs=0
    )
    assert (found.minimum, found.maximum) == (other.minimum, other.maximum)
    assert found.minimum == "first"
    assert found.width_bytes == other.width_bytes == sum(map(len, texts))
    assert scalar_of(by_dictionary, 1).value_count == len(texts)
    if distinct == 3:
        assert found.frequencies is not None
        top = FrequencySketch.from_bytes(found.frequencies).top(3)
        counted = Counter(texts).most_common(3)
        assert [(row.value, row.estimate) for row in top] == counted


@pytest.mark.parametrize("low", [-(2**63), -5, 0, 3, 10**6, 2**63 - 50_000])
@pytest.mark.parametrize("span", [1, 3, 8, 10, 9_000, 15_000, 49_000])
def test_numbers_counted_from_anywhere(low: int, span: int, tmp_path: Path) -> None:
    numbers = np.random.default_rng(span).integers(low, low + span, 8_000, dtype=np.int64)
    found = captured(written(tmp_path, pa.table({"n": numbers}))).rows[1]
    assert found.minimum == str(numbers.min())
    assert found.maximum == str(numbers.max())
    assert found.theta is not None
    assert ThetaSketch.from_bytes(found.theta).estimate == pytest.approx(
        len(np.unique(numbers)), rel=0.05
    )


@pytest.mark.parametrize("scale", [0, 2])
def test_whole_numbers_in_a_decimal_column(scale: int, tmp_path: Path) -> None:
    numbers = [2**64 - 1, 2**63, 2**63 - 1, 1]
    path = written(tmp_path, pa.table({"n": pa.array(numbers, pa.uint64())}))
    wide = WantedColumn(
        column_id=1,
        name="n",
        logical_type=LogicalType(Kind.DECIMAL, precision=22, scale=scale),
        file_paths=(("n",),),
        ndv=True,
        page_index=True,
    )
    found = capture_file(access_to(tmp_path), planned(path), FilePolicy(columns=(wide,)))
    row = found.rows[1]
    assert (row.minimum, row.maximum) == ("1", str(2**64 - 1))
    assert row.theta is not None
    shortest = [shortest_bytes(number * 10**scale) for number in numbers]
    assert row.theta == ThetaSketch.of(hash_bytes(pl.Series(shortest))).to_bytes()


@pytest.mark.parametrize("spread", [1, 10**9])
def test_nanoseconds_of_one_microsecond_are_one_frequent_value(spread: int, tmp_path: Path) -> None:
    rng = np.random.default_rng(6)
    times = np.concatenate([rng.integers(0, 1000, 9_000), rng.integers(0, 2_000 * spread, 1_000)])
    path = written(tmp_path, pa.table({"t": pa.array(times, pa.timestamp("ns"))}))
    found = captured(path)
    items = scalar_of(found, 1).frequent_items
    many = int(np.count_nonzero(times < 1000))
    assert items[0].value == "1970-01-01T00:00:00"
    assert items[0].count_lower_bound <= many <= items[0].count_upper_bound
    assert items[0].count_lower_bound >= 9_000


FAR_APART = {
    "numbers": [0] * 2480 + [3000] * 2480 + [5000] * 30 + [7000] * 10,
    "very far ones": [-(2**62)] * 3000 + [5] * 1990 + [2**62] * 10,
    "floats": [-0.0, 0.0] * 1500 + [1e300] * 1990 + [float("nan")] * 10,
    "texts": ["often"] * 4900 + ["seldom"] * 99 + ["once"],
}


@pytest.mark.parametrize("values", FAR_APART.values(), ids=FAR_APART)
def test_few_values_are_counted_however_far_apart(values: list[Any], tmp_path: Path) -> None:
    found = captured(written(tmp_path, pa.table({"v": values}), use_dictionary=False))
    counted = Counter("NaN" if str(value) == "nan" else value for value in values)
    items = scalar_of(found, 1).frequent_items
    assert [item.count_lower_bound for item in items] == [n for _, n in counted.most_common()]
    assert all(item.count_lower_bound == item.count_upper_bound for item in items)
    [kept] = [row.values for row in found.pages if row.values is not None]
    assert len(kept) == len(counted)


@pytest.mark.parametrize("kind", [pa.int64(), pa.float64(), pa.float32(), pa.timestamp("ns")])
def test_ranks_of_many_values(kind: pa.DataType, tmp_path: Path) -> None:
    numbers = np.random.default_rng(8).lognormal(30, 1, 300_000).astype(np.int64)
    array = pa.array(numbers).cast(kind, safe=False)
    row = captured(written(tmp_path, pa.table({"v": array}))).rows[1]
    assert row.quantiles is not None
    sketch = QuantileSketch.from_bytes(row.quantiles)
    ordered = np.sort(array.cast(pa.int64(), safe=False).to_numpy().astype(np.float64))
    ordered = ordered / 1000 if kind == pa.timestamp("ns") else ordered  # microseconds
    assert sketch.count == len(numbers)
    assert sketch.quantiles([0.0, 1.0]) == [ordered[0], ordered[-1]]
    for rank, value in zip(RANKS, sketch.quantiles(RANKS), strict=True):
        assert abs(np.searchsorted(ordered, value) / len(numbers) - rank) <= sketch.rank_error


@pytest.mark.parametrize("size", [10, 3000])
def test_few_values_of_any_length(size: int, tmp_path: Path) -> None:
    texts = [f"{number}" * size for number in range(7)]
    path = written(tmp_path, pa.table({"t": texts * 100}))
    for found in (captured(path), captured(path)):  # hashed, and remembered
        row = found.rows[1]
        expected = hash_bytes(pl.Series([text.encode() for text in texts]))
        assert row.theta == ThetaSketch.of(expected).to_bytes()
        assert row.width_bytes == 100 * sum(map(len, texts))


@pytest.mark.parametrize("distinct", [3, 300])
@pytest.mark.parametrize("wrong", [-1, 0, 2**31 - 1])
def test_pages_that_point_behind_their_dictionary(distinct: int, wrong: int) -> None:
    texts = pa.array([f"value {number}" for number in range(distinct)])
    indices = pa.array([0, 1, distinct + wrong if wrong == 0 else wrong], pa.int32())
    column = WantedColumn(column_id=1, name="t", logical_type=LogicalType(Kind.STRING), ndv=True)
    with pytest.raises(WrongTypeError, match="doesn't have"):
        Texts(column).add(pa.DictionaryArray.from_arrays(indices, texts, safe=False))
