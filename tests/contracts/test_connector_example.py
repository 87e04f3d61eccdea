"""The example connector does what every connector must."""

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from examples.parquet_folder_connector import FACTORY

from floecat.connectors.auth.providers import NoAuthProvider
from floecat.connectors.spi.columns import ColumnPath, ColumnScope
from floecat.connectors.spi.config import ConnectorConfig
from floecat.connectors.spi.errors import BrokenTableError
from floecat.connectors.spi.factory import ConnectorEnvironment
from floecat.connectors.testing import ConnectorConformance, Upstream
from floecat.security.guard import OutboundGuard, OutboundRules


class TestParquetFolder(ConnectorConformance):
    @pytest.fixture
    def upstream(self, tmp_path: Path) -> Upstream:
        folder = tmp_path / "sales" / "orders"
        folder.mkdir(parents=True)
        for number in range(3):
            rows = {"id": [number * 2, number * 2 + 1], "name": ["a", None]}
            pq.write_table(pa.table(rows), folder / f"{number}.parquet")
        (tmp_path / "sales" / "broken").mkdir()
        (tmp_path / "sales" / "broken" / "0.parquet").write_bytes(b"not parquet")
        guard = OutboundGuard(OutboundRules(file_roots=(tmp_path,)))
        environment = ConnectorEnvironment(auth=NoAuthProvider(), guard=guard)
        config = ConnectorConfig(kind_name=FACTORY.kind_name, uri=f"file://{tmp_path}")
        return Upstream(
            open=lambda: FACTORY.create(config, environment), namespace=("sales",), table="orders"
        )

    def test_a_broken_table_doesnt_stop_its_neighbours(self, upstream: Upstream) -> None:
        with upstream.open() as connector:
            assert set(connector.list_tables(("sales",))) == {"broken", "orders"}
            with pytest.raises(BrokenTableError):
                connector.describe(("sales",), "broken")
            assert connector.describe(("sales",), "orders").columns

    def test_columns_are_found_by_their_path(self, upstream: Upstream, tmp_path: Path) -> None:
        """A struct comes first, a name looks like a path, and other files know other columns."""
        folder = tmp_path / "sales" / "mixed"
        folder.mkdir()
        rows = {"s": [{"x": 100, "y": 200}], "s.x": [1], "b": [-5]}
        pq.write_table(pa.table(rows), folder / "0.parquet")
        pq.write_table(pa.table({"s.x": [7]}), folder / "1.parquet")
        pq.write_table(pa.table({"s.x": ["text"], "b": [9]}), folder / "2.parquet")
        with upstream.open() as connector:
            current = connector.describe(("sales",), "mixed").current_snapshot_id
            assert current is not None
            numbers: dict[ColumnPath, int] = {("s.x",): 1, ("b",): 2}
            bundle = connector.plan_snapshot_files(
                ("sales",), "mixed", current, ColumnScope((), numbers)
            )
            found = [
                {part.column_id: (part.scalar.min, part.scalar.max) for part in file.columns}
                for file in bundle.data_files
            ]
        assert found == [{1: ("1", "1"), 2: ("-5", "-5")}, {1: ("7", "7")}, {2: ("9", "9")}]
