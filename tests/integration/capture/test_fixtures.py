"""Tables that other engines wrote: what is captured of every file is what DuckDB finds in it."""

from collections.abc import Iterator
from pathlib import Path

import duckdb
import pyarrow.parquet as pq
import pytest
from tests.support.captures import assert_equals, truths
from tests.support.connectors import open_connector
from tests.support.lakehouse import delta_root, iceberg_root

from ai.floedb.floecat.catalog.stats_pb2 import FileIdentity
from ai.floedb.floecat.execution.capture_pb2 import CapturePolicy, PlannedFile
from ai.floedb.floecat.execution.scan_pb2 import ScanFile
from floecat.artifacts.columns import to_scalar
from floecat.capture.columns import FilePolicy, WantedColumn
from floecat.capture.files import CapturedFile, capture_file
from floecat.capture.policies import file_policy
from floecat.connectors.spi.columns import ColumnScope
from floecat.connectors.spi.connector import FloecatConnector
from floecat.connectors.spi.errors import ConnectorError
from floecat.types.kinds import Kind

pytestmark = pytest.mark.slow

SOURCES = {
    "iceberg": ("iceberg-filesystem", iceberg_root, "file:{}/warehouse"),
    "iceberg-sql": ("iceberg-sql", iceberg_root, "sqlite:///{}/catalog.db"),
    "delta": ("delta-filesystem", delta_root, "file://{}"),
}
COMPARED = {
    Kind.BOOLEAN,
    Kind.INT,
    Kind.FLOAT,
    Kind.DOUBLE,
    Kind.DECIMAL,
    Kind.DATE,
    Kind.STRING,
    Kind.TIMESTAMP,
    Kind.TIMESTAMPTZ,
}


def _planned(file: ScanFile) -> PlannedFile:
    identity = FileIdentity(
        file_path=file.file_path, size_bytes=file.file_size_bytes, format_mark=file.format_mark
    )
    return PlannedFile(file=file, identity=identity)


def _captures(
    connector: FloecatConnector,
) -> Iterator[tuple[str, FilePolicy, ScanFile, CapturedFile]]:
    """Every parquet file of every table that can be read, in its current snapshot."""
    for namespace in connector.list_namespaces():
        for name in connector.list_tables(namespace):
            try:
                described = connector.describe(namespace, name)
                if described.current_snapshot_id is None:
                    continue
                bundle = connector.plan_snapshot_files(
                    namespace, name, described.current_snapshot_id
                )
            except ConnectorError:
                continue  # broken on purpose
            numbers = {column.path: 9000 + n for n, column in enumerate(bundle.columns)}
            columns = ColumnScope((), numbers).selected(bundle.columns)
            policy = file_policy(CapturePolicy(), columns)
            access = connector.file_access(namespace, name)
            for file in bundle.data_files:
                if file.file_format.lower() == "parquet":
                    table = f"{'.'.join(namespace)}.{name}"
                    yield table, policy, file, capture_file(access, _planned(file), policy)


def _names(path: str) -> dict[int | str, str]:
    """Top-level columns of a file by field id, and by name, as DuckDB calls them."""
    with duckdb.connect() as connection:
        rows = connection.execute(f"SELECT name, field_id FROM parquet_schema('{path}')").fetchall()
    top = set(pq.read_schema(path).names)
    found: dict[int | str, str] = {name: name for name in top}
    by_id = {field_id: name for name, field_id in rows if field_id is not None and name in top}
    found.update(by_id)
    return found


def _compared(
    policy: FilePolicy, names: dict[int | str, str]
) -> Iterator[tuple[str, WantedColumn]]:
    """Columns that the file has at its top level, by their names there."""
    for column in policy.columns:
        name = _name_of(column, names)
        nested = "." in column.name
        if name is not None and column.logical_type.kind in COMPARED and not nested:
            yield name, column


def _name_of(column: WantedColumn, names: dict[int | str, str]) -> str | None:
    if column.field_id is not None and any(isinstance(key, int) for key in names):
        return names.get(column.field_id)
    [path] = column.file_paths[:1]
    return names.get(path[0]) if len(path) == 1 else None


@pytest.mark.parametrize("source", SOURCES)
def test_every_file_is_what_duckdb_finds(source: str) -> None:
    kind, find_root, uri = SOURCES[source]
    root = find_root()
    files = columns = 0
    tables = set()
    with open_connector(kind, uri.format(root), roots=[root]) as connector:
        for table, policy, file, found in _captures(connector):
            path = str(Path(file.file_path.removeprefix("file:")).resolve())
            files += 1
            tables.add(table)
            assert found.stats.row_count == pq.read_metadata(path).num_rows
            compared = list(_compared(policy, _names(path)))
            coverage = {column.column_id: column for column in found.shape.columns}
            asked = [(name, column.logical_type) for name, column in compared]
            for (_, column), said in zip(compared, truths(path, asked), strict=True):
                stats = to_scalar(coverage[column.column_id], found.rows[column.column_id])
                try:
                    assert_equals(stats, said, column.logical_type)
                except AssertionError as error:
                    raise AssertionError(f"{table}.{column.name} in {path}: {error}") from error
                columns += 1
    assert files >= 1
    assert columns >= files
    assert tables
