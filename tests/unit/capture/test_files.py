"""Files as they come: nested, renamed, promoted, partitioned, sampled, damaged, hostile."""

import base64
import os
import random
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.captures import (
    access_to,
    captured,
    planned,
    scalar_of,
    wanted,
    written,
)

from ai.floedb.floecat.catalog.stats_pb2 import NM_ESTIMATE
from ai.floedb.floecat.execution.capture_pb2 import SamplingPolicy
from floecat.capture.columns import FilePolicy, WantedColumn
from floecat.capture.failures import CaptureFailure
from floecat.capture.files import CapturedFile, capture_file
from floecat.capture.parquet.errors import MalformedParquetError
from floecat.capture.parquet.footers import parse_footer, read_footer
from floecat.capture.parquet.pages import parse_bounds, parse_locations
from floecat.capture.parquet.spans import FileSpans
from floecat.capture.spark.sessions import TASKS
from floecat.connectors.spi.columns import ColumnPath
from floecat.types.kinds import Kind
from floecat.types.logical import LogicalType
from floecat.types.messages import to_message

INT = LogicalType(Kind.INT)
STRING = LogicalType(Kind.STRING)


def column(
    path: ColumnPath, logical: LogicalType = INT, column_id: int = 1, **more: Any
) -> WantedColumn:
    return WantedColumn(
        column_id=column_id,
        name=".".join(path),
        logical_type=logical,
        file_paths=(path,),
        ndv=True,
        quantiles=True,
        frequent_items=True,
        page_index=True,
        **more,
    )


def capture(
    path: Path, *columns: WantedColumn, sampling: SamplingPolicy | None = None
) -> CapturedFile:
    policy = FilePolicy(columns=columns, sampling=sampling)
    return capture_file(access_to(path.parent), planned(path), policy)


NESTED = pa.array(
    [
        {"a": 1, "inner": {"b": "x"}, "list": [1, 2, None], "map": [("k", 5)], "deep": [[1], []]},
        {"a": None, "inner": None, "list": [], "map": [], "deep": None},
        None,
        {
            "a": 3,
            "inner": {"b": None},
            "list": None,
            "map": [("k", 6), ("m", None)],
            "deep": [[7, 7]],
        },
    ],
    pa.struct(
        [
            ("a", pa.int64()),
            ("inner", pa.struct([("b", pa.string())])),
            ("list", pa.list_(pa.int64())),
            ("map", pa.map_(pa.string(), pa.int64())),
            ("deep", pa.list_(pa.list_(pa.int64()))),
        ]
    ),
)


@pytest.mark.parametrize(
    ("path", "logical", "counts", "bounds"),
    [
        (("s", "a"), INT, (4, 2, 2), ("1", "3")),
        (("s", "inner", "b"), STRING, (4, 3, 1), ("x", "x")),
        (("s", "list", "element"), INT, (3, 1, 2), ("1", "2")),
        (("s", "map", "key"), STRING, (3, 0, 2), ("k", "m")),
        (("s", "map", "value"), INT, (3, 1, 2), ("5", "6")),
        (("s", "deep", "element", "element"), INT, (3, 0, 2), ("1", "7")),
    ],
)
def test_leaves_of_structs_lists_and_maps(
    path: ColumnPath,
    logical: LogicalType,
    counts: tuple[int, int, int],
    bounds: tuple[str, str],
    tmp_path: Path,
) -> None:
    file = written(tmp_path, pa.table({"s": NESTED}))
    stats = scalar_of(capture(file, column(path, logical)), 1)
    assert (stats.value_count, stats.null_count, stats.ndv.exact) == counts
    assert (stats.min, stats.max) == bounds


def test_a_name_with_a_dot_is_no_path(tmp_path: Path) -> None:
    table = pa.table({"a.b": [1, 2], "a": pa.array([{"b": 7}, {"b": 8}])})
    file = written(tmp_path, table)
    found = capture(file, column(("a.b",)), column(("a", "b"), column_id=2))
    assert [scalar_of(found, n).max for n in (1, 2)] == ["2", "8"]


def test_columns_are_found_by_id_where_files_have_ids(tmp_path: Path) -> None:
    fields = [
        pa.field("was_x", pa.int64(), metadata={"PARQUET:field_id": "2"}),
        pa.field("x", pa.int64(), metadata={"PARQUET:field_id": "1"}),
    ]
    file = written(tmp_path, pa.table([[10], [20]], pa.schema(fields)))
    found = capture(file, column(("x",), field_id=2), column(("y",), column_id=2, field_id=9))
    assert scalar_of(found, 1).max == "10"
    assert scalar_of(found, 2).null_count == 1


def test_a_column_that_came_later_is_null_unless_it_has_a_default(tmp_path: Path) -> None:
    file = written(tmp_path, pa.table({"a": [1, 2, 3]}))
    found = capture(file, column(("new",)), column(("other",), column_id=2, has_default=True))
    stats = scalar_of(found, 1)
    assert (stats.value_count, stats.null_count, stats.ndv.exact) == (3, 3, 0)
    assert 2 not in found.rows
    assert [c.column_id for c in found.shape.columns] == [1, 2]  # neither is to be read again


def test_a_column_that_is_partitioned_by_has_one_value(tmp_path: Path) -> None:
    file = written(tmp_path, pa.table({"a": list(range(10))}))
    plan = planned(file)
    plan.file.partition_values.add(
        name="day", value="2024-02-29", type=to_message(LogicalType(Kind.DATE))
    )
    plan.file.partition_values.add(name="none", type=to_message(STRING))
    policy = FilePolicy(
        columns=(
            column(("day",), LogicalType(Kind.DATE), partition_names=("day",)),
            column(("none",), STRING, 2, partition_names=("none",)),
            # Of the same name as a field that is something else than the column.
            column(("none",), STRING, 3),
            # Partitioned by, but nobody can tell the value.
            column(("odd",), STRING, 4, partition_names=("odd",), has_default=True),
        )
    )
    found = capture_file(access_to(tmp_path), plan, policy)
    day, none = scalar_of(found, 1), scalar_of(found, 2)
    assert (day.min, day.max, day.ndv.exact, day.null_count) == ("2024-02-29", "2024-02-29", 1, 0)
    assert day.frequent_items[0].count_estimate == 10
    assert (none.null_count, none.ndv.exact) == (10, 0)
    assert scalar_of(found, 3).null_count == 10
    assert 4 not in found.rows


def test_promoted_columns_are_hashed_as_what_they_are_now(tmp_path: Path) -> None:
    narrow = written(tmp_path, pa.table({"c": pa.array([1, 2], pa.int32())}), "narrow.parquet")
    wide = written(tmp_path, pa.table({"c": pa.array([1, 2], pa.int64())}), "wide.parquet")
    as_long = column(("c",), source_type="long")
    thetas = [capture(path, as_long).rows[1].theta for path in (narrow, wide)]
    assert thetas[0] == thetas[1]
    as_int = capture(narrow, replace(as_long, source_type="int"))
    assert as_int.rows[1].theta != thetas[0]
    assert as_int.shape.columns[0].hashed_as != capture(wide, as_long).shape.columns[0].hashed_as


def test_a_float_in_a_double_column(tmp_path: Path) -> None:
    file = written(tmp_path, pa.table({"c": pa.array([0.1, 2.5], pa.float32())}))
    stats = scalar_of(capture(file, column(("c",), LogicalType(Kind.DOUBLE))), 1)
    assert (stats.min, stats.max) == ("0.10000000149011612", "2.5")


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        (pa.array([2**53 + 1, 7, -(2**53) - 1], pa.int64()), Kind.DOUBLE),
        (pa.array([2**63 - 1, -(2**63), None], pa.int64()), Kind.DOUBLE),
        (pa.array([2**64 - 1, 2**63 + 1], pa.uint64()), Kind.DOUBLE),
        (pa.array([2**24 + 1, -(2**24) - 1], pa.int32()), Kind.FLOAT),
        (pa.array([0.1, 1e300, -1e300], pa.float64()), Kind.FLOAT),
        (pa.array([0.1, 0.7], pa.float64()), Kind.FLOAT),
    ],
    ids=["long", "longest", "unsigned", "int", "too large", "double"],
)
@pytest.mark.parametrize("sketches", [True, False])
def test_numbers_that_a_float_cant_say_are_bounded_all_the_same(
    values: pa.Array, kind: Kind, sketches: bool, tmp_path: Path
) -> None:
    file = written(tmp_path, pa.table({"c": values}), write_page_index=True)
    wide = column(("c",), LogicalType(kind))
    if not sketches:
        wide = replace(wide, ndv=False, quantiles=False, frequent_items=False)
    found = capture(file, wide)
    stats = scalar_of(found, 1)
    present = [value for value in values.to_pylist() if value is not None]
    assert (stats.value_count, stats.null_count) == (len(values), values.null_count)
    assert float(stats.min) <= min(present)
    assert float(stats.max) >= max(present)
    assert stats.min_tight == (float(stats.min) == min(present))
    assert stats.max_tight == (float(stats.max) == max(present))
    assert not any(row.values for row in found.pages), "none of them exactly"
    assert not any(row.min_int is not None for row in found.pages)
    if sketches:
        dtype = np.float32 if kind is Kind.FLOAT else np.float64
        with np.errstate(over="ignore"):
            rounded = np.array(present, values.type.to_pandas_dtype()).astype(dtype)
        assert stats.ndv.exact == len(np.unique(rounded))


def test_numbers_that_a_float_can_say_are_exact(tmp_path: Path) -> None:
    file = written(tmp_path, pa.table({"c": pa.array([2**53, -(2**53), 3], pa.int64())}))
    found = capture(file, column(("c",), LogicalType(Kind.DOUBLE)))
    stats = scalar_of(found, 1)
    assert (stats.min, stats.max) == ("-9.007199254740992E15", "9.007199254740992E15")
    assert stats.min_tight
    assert stats.max_tight
    [values] = [row.values for row in found.pages if row.values is not None]
    assert set(values) == {"-9.007199254740992E15", "3.0", "9.007199254740992E15"}


@pytest.mark.parametrize("sketches", [True, False])
def test_unsigned_numbers_of_any_size(sketches: bool, tmp_path: Path) -> None:
    values = [2**64 - 1, 5, 2**63, None, 5]
    table = pa.table({"c": pa.array(values, pa.uint64())})
    file = written(tmp_path, table, write_page_index=True)
    found = captured(file, sketches=sketches)
    stats = scalar_of(found, 1)
    assert (stats.value_count, stats.null_count) == (5, 1)
    assert (stats.min, stats.max) == ("5", str(2**64 - 1))
    assert stats.min_tight
    assert stats.max_tight
    assert not any(row.max_int is not None for row in found.pages), "none has so many bits"
    if sketches:
        assert stats.ndv.exact == 3
        assert stats.quantiles.values[-1] == float(2**64 - 1)
        top = {item.value: item.count_estimate for item in stats.frequent_items}
        assert top == {"5": 2, str(2**63): 1, str(2**64 - 1): 1}
        [few] = [row.values for row in found.pages if row.values is not None]
        assert set(few) == {"5", str(2**63), str(2**64 - 1)}


def test_unsigned_numbers_that_are_no_times(tmp_path: Path) -> None:
    file = written(tmp_path, pa.table({"c": pa.array([2**64 - 1], pa.uint64())}))
    with pytest.raises(CaptureFailure, match=r"data\.parquet.*uint64.*TIMESTAMP"):
        capture(file, column(("c",), LogicalType(Kind.TIMESTAMP)))


@pytest.mark.parametrize("stored", [pa.int32(), pa.int64()])
@pytest.mark.parametrize("sketches", [True, False])
def test_whole_numbers_in_a_decimal_column(
    stored: pa.DataType, sketches: bool, tmp_path: Path
) -> None:
    file = written(tmp_path, pa.table({"c": pa.array([500, 700, 500], stored)}))
    wide = column(("c",), LogicalType(Kind.DECIMAL, precision=12, scale=2))
    if not sketches:
        wide = replace(wide, ndv=False, quantiles=False, frequent_items=False)
    stats = scalar_of(capture(file, wide), 1)
    assert (stats.min, stats.max) == ("500", "700")
    if sketches:
        assert [item.value for item in stats.frequent_items] == ["500", "700"]


@pytest.mark.parametrize("sketches", [True, False])
def test_days_in_a_timestamp_column(sketches: bool, tmp_path: Path) -> None:
    days = pa.array([19782, 0], pa.int32()).cast(pa.date32())
    file = written(tmp_path, pa.table({"c": days}), write_page_index=True)
    wide = column(("c",), LogicalType(Kind.TIMESTAMP))
    if not sketches:
        wide = replace(wide, ndv=False, quantiles=False, frequent_items=False)
    found = capture(file, wide)
    stats = scalar_of(found, 1)
    assert (stats.min, stats.max) == ("1970-01-01T00:00:00", "2024-02-29T00:00:00")
    pages = [row for row in found.pages if row.row_group is not None]
    assert {(row.min_int, row.max_int) for row in pages} == {(0, 19782 * 86_400_000_000)}


@pytest.mark.parametrize("sketches", [True, False])
@pytest.mark.parametrize(
    "values",
    [
        ["a" * 100_000, "b" * 100_000],
        ["\U0010ffff" * 5000, "x"],
        ["ß" * 5000, "日" * 5000],
    ],
    ids=["long", "highest", "wide"],
)
def test_long_texts_are_cut_and_still_bound(
    sketches: bool, values: list[str], tmp_path: Path
) -> None:
    file = written(tmp_path, pa.table({"c": values}), write_page_index=True)
    found = captured(file, sketches=sketches)
    stats = scalar_of(found, 1)
    assert len(stats.min.encode()) <= 512
    assert stats.min <= min(values)
    if stats.HasField("max"):
        assert len(stats.max.encode()) <= 520
        assert stats.max >= max(values)
        assert not stats.max_tight
    assert not any(row.values for row in found.pages)
    assert all(len(row.max_bytes or b"") <= 520 for row in found.pages)
    assert all(len(item.value) <= 512 for item in stats.frequent_items)


@pytest.mark.parametrize("dictionary", [True, False])
def test_a_long_value_hides_no_frequent_ones(dictionary: bool, tmp_path: Path) -> None:
    values = ["a"] * 70 + ["b"] * 60 + ["x" * 600] * 400 + ["ß" * 300] * 300
    file = written(tmp_path, pa.table({"c": values}), use_dictionary=dictionary)
    stats = scalar_of(captured(file), 1)
    found = [
        (item.value, item.count_lower_bound, item.count_upper_bound)
        for item in stats.frequent_items
    ]
    assert found == [("a", 70, 70), ("b", 60, 60)]


def test_long_bytes_are_cut_and_still_bound(tmp_path: Path) -> None:
    values = [b"\xff" * 2000, b"\x00" * 2000, b"\xfe" + b"\xff" * 2000]
    file = written(tmp_path, pa.table({"c": pa.array(values, pa.binary())}))
    stats = scalar_of(captured(file), 1)
    assert stats.min == base64.b64encode(b"\x00" * 512).decode()
    assert not stats.HasField("max")  # nothing shorter is above it


def test_leaves_that_came_later_inside_lists_are_unknown(tmp_path: Path) -> None:
    file = written(tmp_path, pa.table({"l": [[{"q": 1}, {"q": 2}]]}))
    found = capture(file, column(("l", "element", "w"), repeated=True))
    assert found.rows == {}


def test_a_column_that_is_several_leaves_in_the_file_is_unknown(tmp_path: Path) -> None:
    members = pa.struct([("metadata", pa.binary()), ("value", pa.binary())])
    variant = pa.array([{"metadata": b"m", "value": b"v"}, None], members)
    fields = [
        pa.field("v", members, metadata={"PARQUET:field_id": "1"}),
        pa.field("a", pa.int64(), metadata={"PARQUET:field_id": "2"}),
    ]
    file = written(tmp_path, pa.table([variant, [1, 2]], pa.schema(fields)))
    kind = LogicalType(Kind.VARIANT)
    for wide in (column(("v",), kind, field_id=1), column(("v",), kind)):
        found = capture(file, wide)
        assert found.rows == {}
        assert [c.column_id for c in found.shape.columns] == [1]  # it isn't to be read again


def test_another_type_than_the_schemas_is_told(tmp_path: Path) -> None:
    file = written(tmp_path, pa.table({"c": ["text"]}))
    with pytest.raises(CaptureFailure, match=r"data\.parquet.*string.*INT"):
        capture(file, column(("c",)))


def test_only_the_columns_that_are_asked_for_are_read(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    table = pa.table({name: rng.random(50_000) for name in "abcd"})
    file = written(tmp_path, table)
    policy = FilePolicy(columns=wanted(table.schema, pages=False))
    everything = capture_file(access_to(tmp_path), planned(file), policy)
    one = capture_file(access_to(tmp_path), planned(file, column_ids=[3]), policy)
    assert set(one.rows) == {3}
    assert one.bytes_read < everything.bytes_read / 3


def test_footers_are_enough_for_counts_and_bounds(tmp_path: Path) -> None:
    table = pa.table({"a": np.arange(100_000), "b": [str(n) for n in range(100_000)]})
    file = written(tmp_path, table)
    found = captured(file, sketches=False, pages=False)
    assert found.bytes_read < 10_000
    assert (scalar_of(found, 1).min, scalar_of(found, 1).max) == ("0", "99999")
    assert (scalar_of(found, 2).min, scalar_of(found, 2).max) == ("0", "99999")


def test_without_statistics_in_the_footer_the_data_is_read(tmp_path: Path) -> None:
    file = written(tmp_path, pa.table({"a": [3, None, 1]}), write_statistics=False)
    stats = scalar_of(captured(file, sketches=False, pages=False), 1)
    assert (stats.min, stats.max, stats.null_count) == ("1", "3", 1)


def test_a_sample_says_that_it_is_one(tmp_path: Path) -> None:
    table = pa.table({"a": np.arange(10_000)})
    file = written(tmp_path, table, row_group_size=1000)
    sampling = SamplingPolicy(row_group_fraction=0.3, seed=7)
    found = capture(file, column(("a",)), sampling=sampling)
    stats = scalar_of(found, 1)
    assert (stats.value_count, stats.min, stats.max) == (10_000, "0", "9999")
    assert (stats.ndv.rows_seen, stats.ndv.rows_total) == (3000, 10_000)
    assert stats.ndv.method == NM_ESTIMATE
    assert stats.ndv.approx.estimate == 10_000  # all that were seen are different
    assert stats.ndv.approx.lower_bound == 3000
    assert found.shape.sampling == sampling
    item = next(iter(stats.frequent_items), None)
    assert item is None or item.count_upper_bound >= 7000  # any row that wasn't seen could have it
    again = capture(file, column(("a",)), sampling=sampling)
    assert again.rows[1].theta == found.rows[1].theta


def test_few_values_are_counted_and_kept(tmp_path: Path) -> None:
    table = pa.table({"a": ["x"] * 70 + ["y"] * 30, "b": [1] * 99 + [2**40]})
    found = captured(written(tmp_path, table))
    top = [(item.value, item.count_estimate) for item in scalar_of(found, 1).frequent_items]
    assert top == [("x", 70), ("y", 30)]
    values = {row.column_id: row.values for row in found.pages if row.values is not None}
    assert values == {1: ("x", "y"), 2: ("1", str(2**40))}


def few_values(found: CapturedFile) -> "tuple[str, ...] | None":
    rows = [row.values for row in found.pages if row.values is not None]
    return rows[0] if rows else None


def test_few_times_are_kept_if_microseconds_say_them(tmp_path: Path) -> None:
    def kept(nanos: list[int], logical: LogicalType) -> "tuple[str, ...] | None":
        file = written(tmp_path, pa.table({"t": pa.array(nanos, pa.timestamp("ns"))}))
        return few_values(capture(file, column(("t",), logical)))

    exact = kept([1_000, 2_000_000], LogicalType(Kind.TIMESTAMP))
    assert exact == ("1970-01-01T00:00:00.000001", "1970-01-01T00:00:00.002")
    assert kept([1_000, 2_000_001], LogicalType(Kind.TIMESTAMP)) is None
    millis = LogicalType(Kind.TIMESTAMP, temporal_precision=3)
    assert kept([1_000_000], millis) == ("1970-01-01T00:00:00.001",)
    assert kept([1_000_000, 1_000], millis) is None


def test_few_times_of_day_are_kept_if_microseconds_say_them(tmp_path: Path) -> None:
    for nanos, said in ((1_000, ("00:00:00.000001",)), (1_001, None)):
        file = written(tmp_path, pa.table({"t": pa.array([nanos], pa.time64("ns"))}))
        assert few_values(capture(file, column(("t",), LogicalType(Kind.TIME)))) == said


def test_few_times_of_the_old_kind_may_be_cut_off(tmp_path: Path) -> None:
    table = pa.table({"t": pa.array([1_001], pa.timestamp("ns"))})
    file = written(tmp_path, table, use_deprecated_int96_timestamps=True)
    assert few_values(capture(file, column(("t",), LogicalType(Kind.TIMESTAMP)))) is None


@pytest.mark.parametrize("dictionary", [True, False])
def test_few_texts_are_kept_if_they_are_texts(dictionary: bool, tmp_path: Path) -> None:
    def kept(values: list[bytes], logical: LogicalType) -> "tuple[str, ...] | None":
        table = pa.table({"t": pa.array(values, pa.binary())})
        file = written(tmp_path, table, use_dictionary=dictionary)
        return few_values(capture(file, column(("t",), logical)))

    assert kept([b"b", "ß".encode()], STRING) == ("b", "ß")
    assert kept([b"b", b"\xff"], STRING) is None
    assert kept([b"b", b"\xff"], LogicalType(Kind.BINARY)) == ("/w==", "Yg==")


def test_few_floats_are_kept_with_nan(tmp_path: Path) -> None:
    found = captured(written(tmp_path, pa.table({"f": [1.5, float("nan"), -0.0, 0.0]})))
    assert few_values(found) == ("0.0", "1.5", "NaN")


def test_heavy_values_are_found_among_many(tmp_path: Path) -> None:
    rng = np.random.default_rng(2)
    numbers = rng.integers(0, 2**60, 100_000)
    numbers[rng.random(100_000) < 0.2] = 42
    texts = [f"text {n}" for n in numbers.tolist()]
    found = captured(written(tmp_path, pa.table({"n": numbers, "t": texts}), use_dictionary=False))
    many = int((numbers == 42).sum())
    for column_id, value in ((1, "42"), (2, "text 42")):
        [item] = scalar_of(found, column_id).frequent_items
        assert item.value == value
        assert item.count_lower_bound <= many <= item.count_upper_bound


def test_pages_bound_what_is_in_them(tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    table = pa.table(
        {
            "n": rng.integers(-1000, 1000, 30_000),
            "f": rng.normal(size=30_000),
            "t": [f"{n:05}" for n in rng.integers(0, 99_999, 30_000)],
            "d": pa.array(rng.integers(0, 9999, 30_000), pa.int32()).cast(pa.date32()),
        }
    )
    file = written(
        tmp_path, table, row_group_size=10_000, data_page_size=4096, write_page_index=True
    )
    found = captured(file)
    pages = [row for row in found.pages if row.page is not None]
    assert found.page_coverage is not None
    assert found.page_coverage.page_count == len(pages) > 20
    assert found.page_coverage.row_groups_without_pages == 0
    for row in found.pages:
        if row.row_group is None:
            continue
        values = table.column(row.column_id - 1)[row.first_row : row.first_row + row.row_count]
        low, high = _ends(row)
        low_value, high_value = _comparable(values)
        assert (low, high) == (low_value, high_value)
    counted = {n: sum(p.row_count for p in pages if p.column_id == n) for n in (1, 2, 3, 4)}
    assert set(counted.values()) == {30_000}


def _ends(row: Any) -> tuple[Any, Any]:
    for kind in ("int", "float", "bytes"):
        if getattr(row, f"min_{kind}") is not None:
            return getattr(row, f"min_{kind}"), getattr(row, f"max_{kind}")
    raise AssertionError(row)


def _comparable(values: pa.ChunkedArray) -> tuple[Any, Any]:
    if values.type == pa.date32():
        values = values.cast(pa.int32())
    listed = values.to_pylist()
    low, high = min(listed), max(listed)
    return (low.encode(), high.encode()) if isinstance(low, str) else (low, high)


def test_without_pages_row_groups_are_bounded(tmp_path: Path) -> None:
    lists = [[n, n] for n in range(100)]  # whose pages' headers don't say how many rows they have
    file = written(tmp_path, pa.table({"n": lists}), row_group_size=50)
    found = capture(file, column(("n", "element")))
    assert found.page_coverage is not None
    assert found.page_coverage.row_groups_without_pages == 2
    assert found.page_coverage.page_count == 0
    groups = [(row.min_int, row.max_int) for row in found.pages if row.row_group is not None]
    assert groups == [(0, 49), (50, 99)]


def test_nan_poisons_no_bound(tmp_path: Path) -> None:
    values = [1.0, float("nan"), -2.0, float("nan")]
    file = written(tmp_path, pa.table({"f": values}), write_page_index=True)
    found = captured(file)
    stats = scalar_of(found, 1)
    assert (stats.min, stats.max, stats.nan_count, stats.ndv.exact) == ("-2.0", "1.0", 2, 3)
    for row in found.pages:
        assert row.min_float in {None, -2.0}
        assert row.max_float in {None, 1.0}


@pytest.fixture(scope="module")
def healthy(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    rng = np.random.default_rng(4)
    table = pa.table(
        {
            "n": rng.integers(0, 10**12, 3000),
            "t": [f"v{n}" for n in rng.integers(0, 50, 3000)],
            "s": pa.array([{"x": n} for n in range(3000)]),
        }
    )
    path = written(tmp_path_factory.mktemp("healthy"), table, write_page_index=True)
    return path.read_bytes()


def test_a_file_that_isnt_the_planned_one(tmp_path: Path) -> None:
    file = written(tmp_path, pa.table({"n": [1]}))
    plan = planned(file)
    plan.identity.size_bytes += 1
    with pytest.raises(CaptureFailure, match="bytes, and"):
        capture_file(access_to(tmp_path), plan, FilePolicy(columns=()))
    gone = planned(file)
    file.unlink()
    with pytest.raises(CaptureFailure, match="isn't there any more"):
        capture_file(access_to(tmp_path), gone, FilePolicy(columns=()))


@pytest.mark.parametrize("content", [b"", b"PAR1", b"PAR1" * 4, b"x" * 100, b"\xff" * 8 + b"PAR1"])
def test_no_parquet_at_all(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "data.parquet"
    path.write_bytes(content)
    with pytest.raises(CaptureFailure, match="can't be read as parquet"):
        capture(path, column(("n",)))


def test_damaged_files_fail_clearly_or_are_read(healthy: bytes, tmp_path: Path) -> None:
    chooser = random.Random(9)
    path = tmp_path / "data.parquet"
    outcomes: dict[str, int] = {"read": 0, "failed": 0}
    schema = pq.read_schema(pa.BufferReader(healthy))
    columns = (*wanted(schema)[:2], column(("s", "x"), column_id=3))
    for _ in range(300):
        content = bytearray(healthy)
        for _ in range(chooser.choice([1, 1, 3, 20])):
            # Half of the damage is done where the metadata is.
            first = chooser.choice([0, len(content) - 1500])
            content[chooser.randrange(first, len(content))] = chooser.randrange(256)
        if chooser.random() < 0.2:
            del content[chooser.randrange(len(content)) :]
        path.write_bytes(content)
        reason = ""
        try:
            capture(path, *columns)
        except CaptureFailure as failure:
            reason = failure.reason
        outcomes["failed" if reason else "read"] += 1
        assert not reason or str(path) in reason
    assert min(outcomes.values()) > 10, outcomes


def test_a_cut_off_footer_is_no_footer(healthy: bytes) -> None:
    footer = read_footer(FileSpans(pa.BufferReader(healthy), len(healthy)), len(healthy))
    assert len(parse_footer(footer).row_groups) == 1
    for end in range(len(footer) - 1):
        with pytest.raises(MalformedParquetError):
            parse_footer(footer[:end])


@given(st.binary(max_size=200))
def test_hostile_metadata_ends_in_an_error(content: bytes) -> None:
    for parse in (parse_footer, parse_bounds, parse_locations):
        try:
            parse(content)
        except MalformedParquetError:
            continue


def test_announced_sizes_are_not_believed() -> None:
    # A list of 2^60 structs, and a text of as many bytes.
    for content in (b"\x19\xfc" + b"\x80" * 8 + b"\x10", b"\x18" + b"\x80" * 8 + b"\x10"):
        with pytest.raises(MalformedParquetError):
            parse_bounds(content)
    with pytest.raises(MalformedParquetError):
        parse_bounds(b"\x1c" * 5000)


_MEASURED = """
import gc, sys
from pathlib import Path

gc.disable()  # nothing large may depend on somebody looking for cycles
from tests.support.captures import captured, scalar_of

def peak():
    said = Path("/proc/self/status").read_text()  # getrusage remembers who started the process
    return int(said.partition("VmHWM:")[2].split()[0]) // 1024

captured(Path(sys.argv[1]))
before = peak()
found = captured(Path(sys.argv[2]))
print(scalar_of(found, 1).value_count, peak() - before)
"""


@pytest.mark.slow
@pytest.mark.parametrize("row_groups", [1, 20])
def test_a_large_file_takes_little_memory(row_groups: int, tmp_path: Path) -> None:
    rng = np.random.default_rng(6)
    small = written(tmp_path, pa.table({"t": ["a"]}), "small.parquet")
    large = tmp_path / "large.parquet"
    rows = 4_000_000
    noise = rng.integers(32, 127, rows * 120, dtype=np.uint8)
    offsets = pa.py_buffer(np.arange(0, len(noise) + 1, 120, dtype=np.int32))
    texts = pa.StringArray.from_buffers(rows, offsets, pa.py_buffer(noise))
    table = pa.table({"t": texts})
    pq.write_table(table, large, use_dictionary=False, row_group_size=rows // row_groups)
    assert large.stat().st_size > 300 * 2**20
    command = [sys.executable, "-c", _MEASURED, str(small), str(large)]
    environment = {**os.environ, **TASKS}
    said = subprocess.run(
        command, capture_output=True, text=True, check=True, env=environment
    ).stdout.split()
    assert int(said[0]) == rows
    assert int(said[1]) < 420, f"{said[1]} MiB for a file of {large.stat().st_size >> 20}"
