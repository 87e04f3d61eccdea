"""TPC-H and taxis: what is learnt of files, columns and tables is what DuckDB counts in them.

A tenth of the usual size, unless SOAK asks for all of it.
"""

import os
from pathlib import Path
from typing import Any

import duckdb
import pyarrow.parquet as pq
import pytest
from tests.support.captures import assert_equals, truths, wanted
from tests.support.segmenting import segment_of
from tests.support.taxi import make_trips
from tests.support.tpch import TABLES, make_tpch

from ai.floedb.floecat.catalog.stats_pb2 import ScalarStats
from floecat.artifacts.columns import to_scalar
from floecat.artifacts.segments import Segment
from floecat.capture.columns import FilePolicy, WantedColumn
from floecat.sketches.theta import ThetaSketch
from floecat.types.kinds import Kind

SCALE = 1.0 if os.environ.get("SOAK") else 0.1
EVERYTHING = (*TABLES, "trips")
RANKED = {Kind.INT, Kind.DECIMAL, Kind.DATE}

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def tpch(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = make_tpch(tmp_path_factory.mktemp("tpch"), SCALE, parts=4)
    make_trips(folder / "trips", rows=int(400_000 * SCALE), files=4)
    return folder


@pytest.fixture(scope="module")
def captures(
    tpch: Path, tmp_path_factory: pytest.TempPathFactory
) -> dict[str, tuple[Segment, tuple[WantedColumn, ...], list[Path]]]:
    found = {}
    for table in EVERYTHING:
        files = sorted((tpch / table).glob("*.parquet"))
        columns = wanted(pq.read_schema(files[0]))
        folder = tmp_path_factory.mktemp(table)
        found[table] = segment_of(folder, files, FilePolicy(columns=columns)), columns, files
    return found


def stats_of(segment: Segment, column: WantedColumn) -> ScalarStats:
    row = segment.partials.row(column.column_id, 0)
    assert row is not None
    return to_scalar(segment.columns[column.column_id], row, sketches=True)


@pytest.mark.parametrize("table", EVERYTHING)
def test_columns_of_tables_are_exact(table: str, tpch: Path, captures: Any) -> None:
    segment, columns, _ = captures[table]
    said = truths(f"{tpch}/{table}/*.parquet", [(c.name, c.logical_type) for c in columns])
    for column, one in zip(columns, said, strict=True):
        assert_equals(stats_of(segment, column), one, column.logical_type)


@pytest.mark.parametrize("table", ["lineitem", "orders", "nation", "trips"])
def test_columns_of_files_are_exact(table: str, captures: Any) -> None:
    segment, columns, _ = captures[table]
    for part, rows in segment.parts():
        for number, file in enumerate(part.files):
            asked = [(column.name, column.logical_type) for column in columns]
            said = truths(file.stats.identity.file_path, asked)
            for column, one in zip(columns, said, strict=True):
                row = rows.row(column.column_id, number)
                found = to_scalar(segment.columns[column.column_id], row)
                assert_equals(found, one, column.logical_type)


def test_distinct_values_are_as_close_as_they_say(tpch: Path, captures: Any) -> None:
    inside = total = 0
    for table in EVERYTHING:
        segment, columns, _ = captures[table]
        asked = [(column.name, column.logical_type) for column in columns]
        said = truths(f"{tpch}/{table}/*.parquet", asked)
        for column, one in zip(columns, said, strict=True):
            stats = stats_of(segment, column)
            distinct = one.distinct
            total += 1
            if stats.ndv.WhichOneof("value") == "exact":
                inside += stats.ndv.exact == distinct
                continue
            approx = stats.ndv.approx
            inside += approx.lower_bound <= distinct <= approx.upper_bound
            sketch = next(s.data for s in stats.sketches if "theta" in s.type)
            low, high = ThetaSketch.from_bytes(sketch).bounds(3)
            assert low <= distinct <= high, (table, column.name)
            if distinct > 10_000:
                assert approx.estimate == pytest.approx(distinct, rel=0.05)
    assert inside >= 0.9 * total, f"{inside} of {total}"


@pytest.mark.parametrize("table", ["lineitem", "orders", "partsupp"])
def test_quantiles_are_within_their_rank_error(table: str, tpch: Path, captures: Any) -> None:
    segment, columns, _ = captures[table]
    ranked = [column for column in columns if column.logical_type.kind in RANKED]
    assert ranked
    with duckdb.connect() as connection:
        for column in ranked:
            stats = stats_of(segment, column)
            assert stats.quantiles.values
            for rank, value in zip(stats.quantiles.ranks, stats.quantiles.values, strict=True):
                below, up_to = _ranks(connection, f"{tpch}/{table}/*.parquet", column, value)
                error = stats.quantiles.rank_error
                assert below - error <= rank <= up_to + error, (column.name, rank)


def _ranks(
    connection: duckdb.DuckDBPyConnection, files: str, column: WantedColumn, value: float
) -> tuple[float, float]:
    number = (
        f"({column.name} - DATE '1970-01-01')"
        if column.logical_type.kind is Kind.DATE
        else column.name
    )
    half = 0.5 * 10 ** -(column.logical_type.scale or 0)
    row = connection.execute(
        f"SELECT avg(({number} < {value - half})::INT), avg(({number} <= {value + half})::INT) "
        f"FROM read_parquet('{files}')"
    ).fetchone()
    assert row is not None
    return row


def test_top_values_are_right(tpch: Path, captures: Any) -> None:
    segment, columns, _ = captures["lineitem"]
    files = f"{tpch}/lineitem/*.parquet"
    checked = 0
    with duckdb.connect() as connection:
        for column in columns:
            stats = stats_of(segment, column)
            if column.logical_type.kind is not Kind.STRING or not stats.frequent_items:
                continue
            counts = dict(
                connection.execute(
                    f"SELECT {column.name}, count(*) FROM read_parquet('{files}') GROUP BY 1"
                ).fetchall()
            )
            best = sorted(counts, key=lambda value: (-counts[value], value))
            found = [item.value for item in stats.frequent_items]
            assert found == best[: len(found)]
            for item in stats.frequent_items:
                assert item.count_lower_bound <= counts[item.value] <= item.count_upper_bound
            checked += 1
    assert checked >= 4


def test_widths(tpch: Path, captures: Any) -> None:
    segment, columns, _ = captures["lineitem"]
    comment = next(column for column in columns if column.name == "l_comment")
    with duckdb.connect() as connection:
        row = connection.execute(
            f"SELECT avg(strlen(l_comment)) FROM read_parquet('{tpch}/lineitem/*.parquet')"
        ).fetchone()
    assert row is not None
    assert stats_of(segment, comment).average_width_bytes == pytest.approx(row[0])
