"""Sketches of ours, read by Spark's own functions: the same estimates, and unions that work."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from floecat.capture.spark.sessions import SparkOptions, SparkSessions
from floecat.sketches.hashing import hash_bytes, hash_integers
from floecat.sketches.quantiles import QuantileSketch
from floecat.sketches.theta import ThetaSketch

pytestmark = [pytest.mark.spark, pytest.mark.slow]


@pytest.fixture(scope="module")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    folder: Path = tmp_path_factory.mktemp("spark")
    sessions = SparkSessions(SparkOptions(folder=folder, master="local[2]"))
    yield sessions.get()
    sessions.close()


def theta(numbers: np.ndarray[Any, np.dtype[np.int64]]) -> ThetaSketch:
    return ThetaSketch.of(hash_integers(numbers, 8))


@pytest.mark.parametrize("many", [0, 1, 100, 4096, 200_000])
def test_spark_estimates_what_we_do(spark: Any, many: int) -> None:
    ours = theta(np.arange(many))
    frame = spark.createDataFrame([(bytearray(ours.to_bytes()),)], "sketch binary")
    [row] = frame.selectExpr("theta_sketch_estimate(sketch) AS found").collect()
    assert row.found == round(ours.estimate)


def test_spark_makes_the_same_sketch_of_longs(spark: Any) -> None:
    numbers = np.random.default_rng(3).integers(-(2**62), 2**62, 50_000)
    frame = spark.createDataFrame([(int(n),) for n in numbers[:5000]], "n long")
    [row] = frame.selectExpr("theta_sketch_agg(n) AS sketch").collect()
    assert ThetaSketch.from_bytes(bytes(row.sketch)).estimate == pytest.approx(
        theta(numbers[:5000]).estimate, rel=0.05
    )


def test_spark_unites_ours_with_its_own(spark: Any) -> None:
    ours = theta(np.arange(0, 60_000))
    frame = spark.range(40_000, 100_000).selectExpr("theta_sketch_agg(id) AS sketch")
    [theirs] = frame.collect()
    rows = [(bytearray(ours.to_bytes()), bytearray(theirs.sketch))]
    both = spark.createDataFrame(rows, "ours binary, theirs binary").selectExpr(
        "theta_sketch_estimate(theta_union(ours, theirs)) AS found",
        "theta_sketch_estimate(theta_intersection(ours, theirs)) AS shared",
    )
    [row] = both.collect()
    assert row.found == pytest.approx(100_000, rel=0.05)
    assert row.shared == pytest.approx(20_000, rel=0.15)


def test_spark_reads_texts_as_we_hash_them(spark: Any) -> None:
    texts = [f"value {n}" for n in range(30_000)]
    ours = ThetaSketch.of(hash_bytes(pl.Series(texts)))
    frame = spark.range(30_000).selectExpr("theta_sketch_agg('value ' || id) AS sketch")
    [theirs] = frame.collect()
    united = ThetaSketch.union([ours, ThetaSketch.from_bytes(bytes(theirs.sketch))])
    assert united.estimate == pytest.approx(ours.estimate, rel=0.001)


def test_spark_reads_our_quantiles(spark: Any) -> None:
    values = np.random.default_rng(4).lognormal(size=100_000)
    ours = QuantileSketch.of(values)
    frame = spark.createDataFrame([(bytearray(ours.to_bytes()),)], "sketch binary")
    ranks = [0.05, 0.25, 0.5, 0.75, 0.99]
    expressions = [f"kll_sketch_get_quantile_double(sketch, {rank}D)" for rank in ranks]
    [row] = frame.selectExpr(*expressions, "kll_sketch_get_n_double(sketch)").collect()
    ordered = np.sort(values)
    for rank, found in zip(ranks, list(row)[:-1], strict=True):
        assert abs(np.searchsorted(ordered, found) / len(values) - rank) <= ours.rank_error
    assert row[-1] == len(values)
