"""Delta connectors do what every connector must, on tables that another library wrote."""

from pathlib import Path
from uuid import uuid4

import pyarrow as pa
import pytest
from deltalake import DeltaTable, write_deltalake
from tests.support.connectors import open_connector

from floecat.connectors.spi.errors import BrokenTableError
from floecat.connectors.testing import ConnectorConformance, Upstream


def make_table(folder: Path) -> None:
    for number in range(3):
        rows = pa.table(
            {
                "id": pa.array([number * 2, number * 2 + 1], pa.int64()),
                "name": ["a", None],
                "day": ["2024-01-01", "2024-01-02"],
                "nested": [{"x": number, "tags": ["t"]}, None],
            }
        )
        write_deltalake(folder, rows, mode="append", partition_by=["day"])


class TestFolderOfTables(ConnectorConformance):
    @pytest.fixture
    def upstream(self, tmp_path: Path) -> Upstream:
        make_table(tmp_path / "sales" / "eu" / "orders")
        make_table(tmp_path / "loose")
        broken = tmp_path / "sales" / "eu" / "broken" / "_delta_log"
        broken.mkdir(parents=True)
        (broken / f"{0:020}.json").write_text("{not json")
        return Upstream(
            open=lambda: open_connector("delta-filesystem", f"file://{tmp_path}", roots=[tmp_path]),
            namespace=("sales", "eu"),
            table="orders",
        )

    def test_folders_in_between_are_namespaces(self, upstream: Upstream) -> None:
        with upstream.open() as connector:
            namespaces = [("default",), ("sales",), ("sales", "eu")]
            assert list(connector.list_namespaces()) == namespaces
            assert list(connector.list_tables(("default",))) == ["loose"]
            assert list(connector.list_tables(("sales",))) == []

    def test_a_broken_table_doesnt_stop_its_neighbours(self, upstream: Upstream) -> None:
        with upstream.open() as connector:
            assert set(connector.list_tables(("sales", "eu"))) == {"broken", "orders"}
            with pytest.raises(BrokenTableError, match="line 1 of"):
                connector.describe(("sales", "eu"), "broken")
            assert connector.describe(("sales", "eu"), "orders").columns


class TestOneTable(ConnectorConformance):
    @pytest.fixture
    def upstream(self, tmp_path: Path) -> Upstream:
        folder = tmp_path / f"t{uuid4().hex}"
        make_table(folder)
        DeltaTable(folder).create_checkpoint()
        return Upstream(
            open=lambda: open_connector("delta-filesystem", str(folder), roots=[tmp_path]),
            namespace=("default",),
            table=folder.name,
        )
