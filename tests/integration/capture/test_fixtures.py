"""Tables that other engines wrote: what is captured of every file is what DuckDB finds in it."""

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import duckdb
import pyarrow.parquet as pq
import pytest
from tests.support.captures import Truth, assert_equals, query_truth
from tests.support.connectors import open_connector
from tests.support.lakehouse import delta_root, iceberg_root
from tests.support.leaves import FileNodes

from ai.floedb.floecat.catalog.stats_pb2 import FileIdentity, ScalarStats
from ai.floedb.floecat.execution.capture_pb2 import (
    CAO_FILE_STATS,
    CAO_TABLE_STATS,
    CapturePolicy,
    PlannedFile,
)
from ai.floedb.floecat.execution.scan_pb2 import ScanFile
from floecat.artifacts.columns import to_scalar
from floecat.capture.columns import FilePolicy, WantedColumn
from floecat.capture.files import CapturedFile, capture_file
from floecat.capture.policies import file_policy
from floecat.connectors.spi.columns import ColumnScope
from floecat.connectors.spi.connector import FloecatConnector
from floecat.connectors.spi.errors import ConnectorError
from floecat.types.kinds import Kind
from floecat.types.ordering import sort_key

pytestmark = pytest.mark.slow

SOURCES = {
    "iceberg": ("iceberg-filesystem", iceberg_root, "file:{}/warehouse"),
    "iceberg-sql": ("iceberg-sql", iceberg_root, "sqlite:///{}/catalog.db"),
    "delta": ("delta-filesystem", delta_root, "file://{}"),
}
FILES = {
    "iceberg": {
        "broken.healthy_1": 2,
        "broken.healthy_2": 2,
        "deep.deeper.deepest.bottom": 2,
        "deep.top": 1,
        "deletes.equality": 5,
        "deletes.position": 5,
        "deletes.upgraded": 3,
        "deletes.vectors": 5,
        "evolution.partitions": 10,
        "evolution.schema": 5,
        "formats.mixed": 2,
        "formats.upgraded": 2,
        "formats.v1": 2,
        "history.thousand": 10,
        "layout.sorted": 2,
        "refs.branches": 2,
        "statistics.theta": 3,
        "types.defaults": 2,
        "types.nanoseconds": 1,
        "types.nested": 2,
        "types.primitives": 5,
        "types.times": 1,
        "types.uuid_and_fixed": 1,
        "types.variants": 2,
    },
    "iceberg-sql": {"sales.eu.orders": 1, "sales.orders": 2},
    "delta": {
        "broken.healthy_1": 3,
        "broken.healthy_2": 3,
        "default.checkpoint_classic": 5,
        "default.checkpoint_multipart": 5,
        "default.checkpoint_struct_only": 6,
        "default.checkpoint_trimmed": 5,
        "default.checkpoint_v2_json": 5,
        "default.checkpoint_v2_parquet": 5,
        "default.cloned": 2,
        "default.clustered": 2,
        "default.constrained": 1,
        "default.few_statistics": 2,
        "default.in_commit_timestamps": 3,
        "default.inline_vectors": 1,
        "default.mapped_by_id": 4,
        "default.mapped_by_name": 4,
        "default.mapped_later": 2,
        "default.nested": 1,
        "default.partitioned": 4,
        "default.plain": 2,
        "default.primitives": 2,
        "default.row_tracking": 2,
        "default.typed_partitions": 2,
        "default.unusual_floats": 4,
        "default.variants": 2,
        "default.vectors": 3,
        "default.widened": 2,
    },
}
"""The parquet files of each table, in its current snapshot. Others have none, or are broken."""
COLUMNS = {
    "iceberg": {"top level": 251, "nested": 45, "added later": 11, "not told": 1, "variant": 2},
    "iceberg-sql": {"top level": 5},
    "delta": {
        "top level": 192,
        "nested": 30,
        "partition": 34,
        "added later": 4,
        "not told": 1,
        "variant": 2,
    },
}
"""How many columns of files were compared, by how the truth is known."""
FOOTERS = CapturePolicy(outputs=[CAO_TABLE_STATS, CAO_FILE_STATS])
_HIVE_NULL = "__HIVE_DEFAULT_PARTITION__"
_SQL_TYPES = {
    Kind.BOOLEAN: "BOOLEAN",
    Kind.INT: "BIGINT",
    Kind.FLOAT: "REAL",
    Kind.DOUBLE: "DOUBLE",
    Kind.DATE: "DATE",
    Kind.STRING: "VARCHAR",
    Kind.TIMESTAMP: "TIMESTAMP",
    Kind.TIMESTAMPTZ: "TIMESTAMPTZ",
}


@dataclass(frozen=True)
class Captured:
    """A file, captured whole and by its footer."""

    table: str
    file: ScanFile
    policy: FilePolicy
    whole: CapturedFile
    footers: CapturedFile

    @property
    def path(self) -> str:
        return str(Path(self.file.file_path.removeprefix("file:")).resolve())

    def scalar(self, column: WantedColumn, found: CapturedFile) -> ScalarStats | None:
        """What was learnt of a column; None if nothing was."""
        coverage = {known.column_id: known for known in found.shape.columns}
        row = found.rows.get(column.column_id)
        return None if row is None else to_scalar(coverage[column.column_id], row)


def _captures(connector: FloecatConnector) -> Iterator[Captured]:
    """Every parquet file of every table that can be read, in its current snapshot."""
    for namespace in connector.list_namespaces():
        for name in connector.list_tables(namespace):
            try:
                described = connector.describe(namespace, name)
                if described.current_snapshot_id is None:
                    continue
                at = (namespace, name, described.current_snapshot_id)
                bundle = connector.plan_snapshot_files(*at)
            except ConnectorError:
                continue  # broken on purpose
            numbers = {column.path: 9000 + n for n, column in enumerate(bundle.columns)}
            columns = ColumnScope((), numbers).selected(bundle.columns)
            policy = file_policy(CapturePolicy(), columns)
            footers = file_policy(FOOTERS, columns)
            access = connector.file_access(namespace, name)
            for file in bundle.data_files:
                if file.file_format.lower() == "parquet":
                    plan = _planned(file)
                    yield Captured(
                        ".".join((*namespace, name)),
                        file,
                        policy,
                        capture_file(access, plan, policy),
                        capture_file(access, plan, footers),
                    )


def _planned(file: ScanFile) -> PlannedFile:
    identity = FileIdentity(
        file_path=file.file_path, size_bytes=file.file_size_bytes, format_mark=file.format_mark
    )
    return PlannedFile(file=file, identity=identity)


class _Oracle:
    """What is in a file, by DuckDB."""

    def __init__(self, connection: duckdb.DuckDBPyConnection, captured: Captured) -> None:
        self._connection = connection
        self._captured = captured
        self._nodes = FileNodes.of(captured.path)
        self.rows = pq.read_metadata(captured.path).num_rows

    def truth(self, column: WantedColumn) -> tuple[str, Truth | None]:
        """How it is known, and what is; None of what files don't say."""
        node = self._nodes.find(column.field_id, column.file_paths)
        if node is not None and not node.is_leaf:
            return "variant", None  # a group of leaves that are none of the table's
        if node is not None:
            how = "nested" if len(node.path) > 1 else "top level"
            return how, query_truth(self._connection, node.query, column.logical_type)
        names = {value.name for value in self._captured.file.partition_values}
        if not names.isdisjoint(column.partition_names):
            return "partition", self._everywhere(column, self._partition_value(column))
        if column.repeated or column.has_default:
            return "not told", None
        return "added later", self._everywhere(column, None)

    def _everywhere(self, column: WantedColumn, value: Any) -> Truth:
        return Truth(
            values=self.rows,
            nulls=self.rows if value is None else 0,
            nans=0 if column.logical_type.kind in {Kind.FLOAT, Kind.DOUBLE} else None,
            low=value,
            high=value,
            distinct=int(value is not None and self.rows > 0),
        )

    def _partition_value(self, column: WantedColumn) -> Any:
        """As the name of the file's folder has it."""
        name = column.file_paths[0][0]
        found = re.search(rf"/{re.escape(name)}=([^/]*)/", self._captured.path)
        assert found, f"{self._captured.path} doesn't tell {name}"
        text = unquote(found[1])
        if text == _HIVE_NULL:
            return None
        logical = column.logical_type
        if logical.kind is Kind.BINARY:
            return text.encode()
        kind = _SQL_TYPES.get(logical.kind) or f"DECIMAL({logical.precision},{logical.scale})"
        row = self._connection.execute(f"SELECT CAST($1 AS {kind})", [text]).fetchone()
        assert row is not None
        return row[0]


def _assert_footers_agree(column: WantedColumn, footers: ScalarStats, whole: ScalarStats) -> None:
    """The same counts, and the same bounds where a row has them; wider ones where none does."""
    assert footers.value_count == whole.value_count
    assert footers.null_count == whole.null_count
    if footers.HasField("nan_count"):
        assert footers.nan_count == whole.nan_count
    for name in ("min", "max"):
        assert footers.HasField(name) == whole.HasField(name)
        if not whole.HasField(name):
            continue
        stated, learnt = getattr(footers, name), getattr(whole, name)
        if getattr(footers, f"{name}_tight") and getattr(whole, f"{name}_tight"):
            assert stated == learnt
            continue
        key = sort_key(column.logical_type)
        low, high = (stated, learnt) if name == "min" else (learnt, stated)
        assert key(low) <= key(high)


@pytest.fixture(scope="module")
def connection() -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb.connect() as connection:
        connection.execute("SET threads = 2; SET TimeZone = 'UTC'")
        # It takes a footer's bounds to mean that there is no NaN, and then counts none.
        connection.execute("SET disabled_optimizers = 'statistics_propagation'")
        yield connection


@pytest.mark.parametrize("source", SOURCES)
def test_every_file_is_what_duckdb_finds(
    source: str, connection: duckdb.DuckDBPyConnection
) -> None:
    kind, find_root, uri = SOURCES[source]
    root = find_root()
    seen: Counter[str] = Counter()
    compared: Counter[str] = Counter()
    with open_connector(kind, uri.format(root), roots=[root]) as connector:
        for captured in _captures(connector):
            seen[captured.table] += 1
            oracle = _Oracle(connection, captured)
            assert captured.whole.stats.row_count == oracle.rows
            for column in captured.policy.columns:
                how, said = oracle.truth(column)
                compared[how] += 1
                try:
                    _assert_right(captured, column, said)
                except AssertionError as error:
                    where = f"{captured.table}.{column.name} in {captured.path}"
                    raise AssertionError(f"{where}: {error}") from error
    assert dict(seen) == FILES[source]
    assert dict(compared) == COLUMNS[source]


def _assert_right(captured: Captured, column: WantedColumn, said: Truth | None) -> None:
    whole = captured.scalar(column, captured.whole)
    footers = captured.scalar(column, captured.footers)
    if said is None:
        assert whole is None
        assert footers is None
        return
    assert whole is not None
    assert footers is not None
    assert_equals(whole, said, column.logical_type)
    for name in ("min", "max"):
        has_order = column.logical_type.kind.is_orderable
        assert whole.HasField(name) == (has_order and said.low is not None)
    _assert_footers_agree(column, footers, whole)
