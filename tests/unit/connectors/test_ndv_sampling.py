"""What a sample makes of a column's distinct values."""

import numpy as np
import pytest

from ai.floedb.floecat.catalog.stats_pb2 import NM_ESTIMATE, NM_EXACT, Ndv
from floecat.connectors.spi.ndv import (
    ColumnNdv,
    SamplingNdvProvider,
    StaticOnceNdvProvider,
)
from floecat.connectors.spi.parquet import LeafFooter, ParquetFooterStats, ParquetNdvProvider


def sampled(distinct: int, seen: int, total: int, filled: int | None = None) -> Ndv:
    ndv = Ndv(exact=distinct, method=NM_EXACT, rows_seen=seen, rows_total=total)
    known = {} if filled is None else {1: filled}
    found = SamplingNdvProvider(StaticOnceNdvProvider({1: ColumnNdv(ndv)}), known).find_ndv(1)
    assert found is not None
    return found.ndv


@pytest.mark.parametrize("distinct", [5, 300, 20_000, 90_000])
@pytest.mark.parametrize("share", [0.1, 0.5])
def test_equally_frequent_values_are_guessed_well(distinct: int, share: float) -> None:
    rows = 100_000
    rng = np.random.default_rng(distinct)
    values = np.arange(rows) % distinct
    chosen = rng.permutation(values)[: int(rows * share)]
    found = sampled(len(np.unique(chosen)), len(chosen), rows)
    assert found.method == NM_ESTIMATE
    assert found.approx.estimate == pytest.approx(distinct, rel=0.15)
    assert found.approx.lower_bound <= distinct <= found.approx.upper_bound


@pytest.mark.parametrize("distinct", [300, 40_000])
@pytest.mark.parametrize("nulls", [0.5, 0.9])
def test_rows_without_a_value_show_none(distinct: int, nulls: float) -> None:
    rows = 200_000
    rng = np.random.default_rng(distinct)
    filled = rng.random(rows) >= nulls
    values = np.where(filled, rng.permutation(rows) % distinct, -1)
    chosen = values[: int(rows * 0.3)]
    many = int(filled.sum())
    truth = len(np.unique(values[filled]))
    found = sampled(len(np.unique(chosen[chosen >= 0])), len(chosen), rows, many)
    assert found.approx.estimate == pytest.approx(truth, rel=0.15)
    assert found.approx.lower_bound <= truth <= found.approx.upper_bound <= many


def test_what_saw_everything_stays_exact() -> None:
    assert sampled(7, 100, 100).exact == 7


def test_nothing_is_known_of_other_columns() -> None:
    assert SamplingNdvProvider(StaticOnceNdvProvider({})).find_ndv(3) is None


def test_a_footers_own_count_is_used_while_there_is_one_row_group() -> None:
    chunk = LeafFooter(value_count=10, null_count=0, distinct_count=4)
    one = ParquetNdvProvider(ParquetFooterStats([10], [[chunk]]), {7: 0}).find_ndv(7)
    assert one is not None
    assert (one.ndv.exact, one.ndv.rows_total) == (4, 10)
    two = ParquetFooterStats([10, 10], [[chunk], [chunk]])
    assert ParquetNdvProvider(two, {7: 0}).find_ndv(7) is None
    assert ParquetNdvProvider(two, {}).find_ndv(7) is None
