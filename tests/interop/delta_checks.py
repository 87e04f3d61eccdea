"""A delta table that deltalake writes, and what delta connectors must find of it in a catalog."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import pyarrow as pa
import pytest
from deltalake import DeltaTable, write_deltalake

from floecat.connectors.spi.connector import FloecatConnector
from floecat.connectors.spi.records import Namespace, SnapshotEnumerationOptions
from floecat.connectors.testing import ConnectorConformance, Upstream

TABLE = "orders"
_ALL = SnapshotEnumerationOptions(full_rescan=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class DeltaLake:
    """A running catalog, and the table's files."""

    open: Callable[[], FloecatConnector]
    namespace: Namespace
    location: str
    storage: Mapping[str, str] = field(default_factory=dict)

    def table(self, version: int | None = None) -> DeltaTable:
        """The table as deltalake reads it: what ours is compared with."""
        return DeltaTable(self.location, version, storage_options=dict(self.storage))


def write_table(location: str, storage: Mapping[str, str] | None = None) -> None:
    """Three versions appended, and one with rows deleted."""
    options = dict(storage or {})
    for number in range(3):
        rows = pa.table(
            {
                "id": pa.array([number * 2, number * 2 + 1], pa.int64()),
                "name": ["a", None],
                "day": ["2024-01-01", "2024-01-02"],
                "nested": [{"x": number, "tags": ["t"]}, None],
            }
        )
        write_deltalake(
            location, rows, mode="append", partition_by=["day"], storage_options=options
        )
    DeltaTable(location, storage_options=options).delete("id = 3")


class DeltaServerChecks(ConnectorConformance):
    """Subclass it beside a fixture `lake`."""

    @pytest.fixture
    def upstream(self, lake: DeltaLake) -> Upstream:
        return Upstream(open=lake.open, namespace=lake.namespace, table=TABLE)

    def test_every_version_and_its_files_are_found(self, lake: DeltaLake) -> None:
        with lake.open() as connector:
            found = list(connector.enumerate_snapshots(lake.namespace, TABLE, _ALL))
            assert [s.snapshot_id for s in found] == list(range(lake.table().version() + 1))
            assert len(found) == 4
            for snapshot in found:
                number = snapshot.snapshot_id
                bundle = connector.plan_snapshot_files(lake.namespace, TABLE, number)
                paths = sorted(f.file_path.removeprefix("file://") for f in bundle.data_files)
                assert paths == sorted(lake.table(number).file_uris())

    def test_the_table_is_described_as_it_is(self, lake: DeltaLake) -> None:
        with lake.open() as connector:
            described = connector.describe(lake.namespace, TABLE)
        truth = lake.table()
        assert described.location == lake.location
        assert described.current_snapshot_id == truth.version()
        assert list(described.partition_keys) == truth.metadata().partition_columns
