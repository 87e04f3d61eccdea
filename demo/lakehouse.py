"""Two catalogs of other people, with TPC-H in them: an Iceberg warehouse, and Delta tables."""

import subprocess
import sys
from pathlib import Path
from typing import Final

import pyarrow as pa
import pyarrow.parquet as pq
from deltalake import DeltaTable, write_deltalake
from pyiceberg.catalog.sql import SqlCatalog

_SCALE: Final = "0.1"
_PARTS: Final = 5
_WAREHOUSE: Final = ("customer", "lineitem", "orders")
_LAKE: Final = ("nation", "part", "partsupp", "region", "supplier")
_SMALL: Final = frozenset({"nation", "region", "supplier"})
_PROGRAM: Final = str(Path(sys.executable).with_name("tpchgen-cli"))


class Lakehouse:
    """Made below a folder; the same every time."""

    def __init__(self, folder: Path) -> None:
        self.root = folder
        self._source = folder / "tpch"
        warehouse = folder / "warehouse"
        warehouse.mkdir(parents=True)
        self.iceberg_uri = f"sqlite:///{warehouse}/catalog.db"
        self.delta_folder = folder / "lake"
        self._iceberg = SqlCatalog("demo", uri=self.iceberg_uri, warehouse=f"file://{warehouse}")

    def make(self) -> None:
        """Tables that grew over several days, some with rows deleted since."""
        for name in (*_WAREHOUSE, *_LAKE):
            self._generate(name)
        self._iceberg.create_namespace("sales")
        for name in _WAREHOUSE:
            days = self._days(name)
            table = self._iceberg.create_table(f"sales.{name}", days[0].schema)
            for day in days[:-1]:  # the last is for later
                table.append(day)
        self._iceberg.load_table("sales.orders").delete("o_orderpriority = '5-LOW'")
        for name in _LAKE:
            for day in self._days(name):
                write_deltalake(self.delta_folder / "supply" / name, day, mode="append")
        DeltaTable(self.delta_folder / "supply" / "part").delete("p_size > 45")

    def change(self) -> str:
        """What happens on another day; the table that it touched."""
        self._iceberg.load_table("sales.lineitem").append(self._days("lineitem")[-1])
        return "sales.lineitem"

    def _generate(self, name: str) -> None:
        parts = "1" if name in _SMALL else str(_PARTS)
        command = [_PROGRAM, "parquet", "-s", _SCALE, "--tables", name, "--parts", parts]
        subprocess.run(
            [*command, "--output-dir", str(self._source)], check=True, capture_output=True
        )

    def _days(self, name: str) -> list[pa.Table]:
        files = sorted((self._source / name).glob("*.parquet"))
        return [_plain(pq.ParquetFile(file).read()) for file in files]


def _plain(table: pa.Table) -> pa.Table:
    """Types and names only: the writers know no string views, and give ids of their own."""
    fields = [
        pa.field(field.name, pa.string() if field.type == pa.string_view() else field.type)
        for field in table.schema
    ]
    return table.cast(pa.schema(fields))
