"""Every parquet type: counts, bounds and distinct values are what DuckDB finds in the file."""

from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any
from uuid import UUID

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.support.captures import (
    assert_equals,
    captured,
    logical_of,
    scalar_of,
    truth,
    written,
)

RNG = np.random.default_rng(5)
ROWS = 20_000


def spread(values: list[Any], share_of_nulls: float = 0.1) -> list[Any]:
    """Values at random, with nulls among them."""
    chosen = RNG.integers(0, len(values), ROWS)
    missing = RNG.random(ROWS) < share_of_nulls
    return [None if gone else values[n] for n, gone in zip(chosen, missing, strict=True)]


def clock(*parts: int) -> datetime:
    """A wall clock's time, which has no zone."""
    return datetime(*parts, tzinfo=UTC).replace(tzinfo=None)  # type: ignore[arg-type,misc]


INSTANT = datetime(1, 1, 1, tzinfo=UTC)
MOMENT = clock(2024, 2, 29, 12, 30, 15, 123456)
TYPES: dict[str, tuple[pa.DataType, list[Any]]] = {
    "bool": (pa.bool_(), [True, False]),
    "int8": (pa.int8(), list(range(-128, 128))),
    "int16": (pa.int16(), list(range(-3000, 3000, 7))),
    "int32": (pa.int32(), [-(2**31), 2**31 - 1, *range(1000)]),
    "int64": (pa.int64(), [-(2**63), 2**63 - 1, *range(9000)]),
    "uint8": (pa.uint8(), list(range(256))),
    "uint16": (pa.uint16(), [0, 65535, 77]),
    "uint32": (pa.uint32(), [0, 2**32 - 1, 5]),
    "float16": (pa.float16(), [np.float16(v) for v in (0.5, -2, 7)]),
    "float32": (pa.float32(), [0.0, -0.0, 1.5, float("inf"), float("nan"), -3.25]),
    "float64": (pa.float64(), [*np.linspace(-5, 5, 9999).tolist(), float("nan"), 1e300]),
    "all nan": (pa.float64(), [float("nan")]),
    "decimal short": (pa.decimal128(9, 2), [Decimal(n) / 100 for n in range(-500, 500)]),
    "decimal": (pa.decimal128(18, 4), [Decimal(n * 10**9 + 3) / 10**4 for n in range(-99, 99)]),
    "decimal long": (pa.decimal128(38, 5), [Decimal(10**30 + n) for n in range(-300, 300)]),
    "decimal mixed": (pa.decimal128(38, 0), [Decimal(2**80), Decimal(-(2**90)), Decimal(7)]),
    "date": (pa.date32(), [date(1, 1, 1), date(9999, 12, 31), date(1970, 1, 1)]),
    "date64": (pa.date64(), [date(1990, 5, 5), date(2024, 2, 29)]),
    "time ms": (pa.time32("ms"), [time(0), time(23, 59, 59, 999000)]),
    "time us": (pa.time64("us"), [time(0), time(23, 59, 59, 999999), time(7, 8, 9, 10)]),
    "timestamp ms": (pa.timestamp("ms"), [clock(1960, 1, 1), clock(2030, 1, 1)]),
    "timestamp us": (pa.timestamp("us"), [MOMENT + timedelta(seconds=n) for n in range(5000)]),
    "timestamptz": (
        pa.timestamp("us", "UTC"),
        [MOMENT.replace(tzinfo=UTC), datetime(1, 1, 1, tzinfo=UTC)],
    ),
    "string": (pa.string(), ["", "a", "straße", "日本", "z" * 300, "\x00", "🦀"]),
    "large_string": (pa.large_string(), [f"value {n}" for n in range(6000)]),
    "string_view": (pa.string_view(), [f"v{n}" for n in range(40)]),
    "binary": (pa.binary(), [b"", b"\x00", b"\xff\xfe", b"abc"]),
    "fixed": (pa.binary(4), [b"\x00\x00\x00\x00", b"\xff\x00\x01\x02"]),
}


@pytest.mark.parametrize("name", TYPES)
@pytest.mark.parametrize("dictionary", [True, False], ids=["dictionary", "plain"])
def test_a_type(name: str, dictionary: bool, tmp_path: Path) -> None:
    kind, values = TYPES[name]
    table = pa.table({"c": pa.array(spread(values), kind)})
    path = written(tmp_path, table, use_dictionary=dictionary, row_group_size=7000)
    logical = logical_of(kind)
    assert_equals(scalar_of(captured(path), 1), truth(str(path), "c", logical), logical)


@pytest.mark.parametrize("name", TYPES)
def test_footers_alone_say_nothing_else(name: str, tmp_path: Path) -> None:
    kind, values = TYPES[name]
    table = pa.table({"c": pa.array(spread(values), kind)})
    path = written(tmp_path, table, row_group_size=7000)
    file = captured(path, sketches=False, pages=False)
    stats = scalar_of(file, 1)
    said = truth(str(path), "c", logical_of(kind))
    assert stats.value_count == said.values
    assert stats.null_count == said.nulls
    whole = scalar_of(captured(path), 1)
    for bound in ("min", "max"):
        if stats.HasField(bound):
            assert getattr(stats, bound) == getattr(whole, bound)


@pytest.mark.parametrize("name", TYPES)
def test_all_null_and_no_rows(name: str, tmp_path: Path) -> None:
    kind, _ = TYPES[name]
    for many in (0, 5):
        path = written(tmp_path, pa.table({"c": pa.nulls(many, kind)}), f"{many}.parquet")
        file = captured(path)
        stats = scalar_of(file, 1)
        assert (stats.value_count, stats.null_count) == (many, many)
        assert not stats.HasField("min")
        assert not stats.HasField("max")
        assert stats.ndv.exact == 0
        assert file.stats.row_count == many


def test_int96(tmp_path: Path) -> None:
    moments = [clock(2001, 2, 3, 4, 5, 6, 789012), clock(1888, 1, 1), None]
    table = pa.table({"c": pa.array(moments, pa.timestamp("us"))})
    path = written(tmp_path, table, use_deprecated_int96_timestamps=True)
    stats = scalar_of(captured(path), 1)
    assert (stats.min, stats.max) == ("1888-01-01T00:00:00", "2001-02-03T04:05:06.789012")
    assert (stats.min_tight, stats.max_tight) == (True, True)
    assert (stats.null_count, stats.ndv.exact) == (1, 2)


@pytest.mark.parametrize(
    ("moments", "bounds"),
    [
        ([1_500, 3_000], ("1970-01-01T00:00:00.000001", "1970-01-01T00:00:00.000004")),
        ([None, -1], ("1969-12-31T23:59:59.999999", "1970-01-01T00:00:00")),
    ],
)
def test_int96_with_nanoseconds_bounds_outwards(
    moments: list[int | None], bounds: tuple[str, str], tmp_path: Path
) -> None:
    table = pa.table({"c": pa.array(moments, pa.timestamp("ns"))})
    path = written(tmp_path, table, use_deprecated_int96_timestamps=True)
    stats = scalar_of(captured(path), 1)
    assert (stats.min, stats.max) == bounds
    assert (stats.min_tight, stats.max_tight) == (False, False)


def test_int96_without_values_has_none(tmp_path: Path) -> None:
    table = pa.table({"c": pa.nulls(3, pa.timestamp("us"))})
    found = captured(written(tmp_path, table, use_deprecated_int96_timestamps=True))
    assert [row.values for row in found.pages if row.row_group is None] == [()]


def test_int96_beyond_what_nanoseconds_reach(tmp_path: Path) -> None:
    table = pa.table({"c": pa.array([clock(1, 1, 1), clock(9999, 12, 31)], pa.timestamp("us"))})
    path = written(tmp_path, table, use_deprecated_int96_timestamps=True)
    stats = scalar_of(captured(path), 1)
    assert (stats.min, stats.max) == ("0001-01-01T00:00:00", "9999-12-31T00:00:00.000001")
    assert (stats.min_tight, stats.max_tight) == (False, False), "nobody can look for more digits"


def test_nanoseconds_bound_outwards(tmp_path: Path) -> None:
    counts = pa.array([1_500, 2_001, -1], pa.int64()).cast(pa.timestamp("ns"))
    path = written(tmp_path, pa.table({"c": counts}), version="2.6")
    stats = scalar_of(captured(path), 1)
    assert (stats.min, stats.min_tight) == ("1969-12-31T23:59:59.999999", False)
    assert (stats.max, stats.max_tight) == ("1970-01-01T00:00:00.000003", False)
    assert stats.ndv.exact == 3


def test_uuids(tmp_path: Path) -> None:
    values = [UUID(int=n << 64 | 7).bytes for n in (9, 3, 3)]
    path = tmp_path / "data.parquet"
    table = pa.table({"c": pa.array(values, pa.binary(16))})
    pq.write_table(table, path)
    stats = scalar_of(captured(path), 1)
    assert stats.ndv.exact == 2


def test_texts_that_arent_utf_8_are_counted_and_bound_nothing(tmp_path: Path) -> None:
    bad = pa.array([b"\xff\xfe", b"a", b"b"]).view(pa.string())
    path = written(tmp_path, pa.table({"c": bad}), use_dictionary=False)
    stats = scalar_of(captured(path), 1)
    assert stats.ndv.exact == 3
    assert stats.min == "a"
    assert not stats.HasField("max")
