"""Storage ids: equal for equal targets, different for others, in the order people expect."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ai.floedb.floecat.statistics.statistics_pb2 import (
    STK_COLUMN,
    STK_EXPRESSION,
    STK_FILE,
    STK_TABLE,
    ColumnStatsTarget,
    ExpressionStatsTarget,
    FileStatsTarget,
    StatsTarget,
    TableStatsTarget,
)
from floecat.artifacts.targets import StatsTargetIdentity, path_key
from floecat.errors import InvalidArgumentError

storage_id = StatsTargetIdentity.storage_id

TEXT = st.text(alphabet="a/~é", max_size=6)
TARGETS = st.one_of(
    st.just(StatsTarget(table=TableStatsTarget())),
    st.integers(0, 2**31 - 1).map(lambda n: StatsTarget(column=ColumnStatsTarget(column_id=n))),
    st.builds(
        lambda kind, key: StatsTarget(
            expression=ExpressionStatsTarget(engine_kind=kind, engine_expression_key=key)
        ),
        TEXT,
        st.binary(max_size=3),
    ),
    st.builds(
        lambda path, times: StatsTarget(file=FileStatsTarget(file_path=path * times)),
        TEXT,
        st.sampled_from([1, 300]),
    ),
)


@given(TARGETS, TARGETS)
def test_ids_are_equal_when_targets_are(one: StatsTarget, other: StatsTarget) -> None:
    assert (storage_id(one) == storage_id(other)) == (one == other)


@given(TARGETS)
def test_an_id_fits_a_key_and_begins_as_its_kind_does(target: StatsTarget) -> None:
    kind = StatsTargetIdentity.kind(target)
    assert storage_id(target).startswith(StatsTargetIdentity.prefix(kind))
    assert len(storage_id(target).encode()) <= 1024


def test_known_ids() -> None:
    assert storage_id(StatsTarget(table=TableStatsTarget())) == "table"
    column = StatsTarget(column=ColumnStatsTarget(column_id=12))
    assert storage_id(column) == "column/0000000012"
    file = StatsTarget(file=FileStatsTarget(file_path="s3://b/a b.parquet"))
    assert storage_id(file) == "file/s3://b/a b.parquet"
    kinds = [StatsTargetIdentity.kind(t) for t in (column, file)]
    assert kinds == [STK_COLUMN, STK_FILE]
    expression = StatsTarget(expression=ExpressionStatsTarget(engine_kind="duckdb"))
    assert StatsTargetIdentity.kind(expression) == STK_EXPRESSION
    assert StatsTargetIdentity.prefix(STK_TABLE) == "table"


def test_nothing_has_no_id() -> None:
    with pytest.raises(InvalidArgumentError, match="target"):
        storage_id(StatsTarget())


def test_long_paths_are_cut_at_a_character_and_told_apart() -> None:
    one, other = "é" * 1000 + "1", "é" * 1000 + "2"
    assert path_key(one) != path_key(other)
    assert path_key(one).startswith("é" * 450 + "~")
    assert len(path_key(one).encode()) <= 1000
