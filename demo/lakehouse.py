"""Two catalogs of other people: an Iceberg warehouse and a folder of Delta tables."""

from datetime import date, timedelta
from pathlib import Path
from random import Random
from typing import Final

import pyarrow as pa
from deltalake import DeltaTable, write_deltalake
from pyiceberg.catalog.sql import SqlCatalog

_DAYS: Final = 30
_ROWS: Final = 2_000
_REGIONS: Final = ("africa", "america", "asia", "europe")
_FIRST: Final = date(2026, 1, 1)


class Lakehouse:
    """Made below a folder; the same every time."""

    def __init__(self, folder: Path) -> None:
        self.root = folder
        self._random = Random(7)
        warehouse = folder / "warehouse"
        warehouse.mkdir(parents=True)
        self.iceberg_uri = f"sqlite:///{warehouse}/catalog.db"
        self.delta_folder = folder / "lake"
        self._iceberg = SqlCatalog("demo", uri=self.iceberg_uri, warehouse=f"file://{warehouse}")

    def make(self) -> None:
        """Tables with several snapshots each, one with deleted rows."""
        for namespace in ("sales", "web"):
            self._iceberg.create_namespace(namespace)
        for region in _REGIONS:
            self._add_orders(f"sales.orders_{region}")
        clicks = self._clicks(_FIRST)
        self._iceberg.create_table("web.clicks", clicks.schema).append(clicks)
        for name in ("customers", "parts", "suppliers"):
            write_deltalake(self.delta_folder / "crm" / name, self._people(name))
            write_deltalake(self.delta_folder / "crm" / name, self._people(name), mode="append")
        DeltaTable(self.delta_folder / "crm" / "parts").delete("id < 100")

    def change(self) -> list[str]:
        """What happens on another day; which tables it touched."""
        self._iceberg.load_table("web.clicks").append(self._clicks(_FIRST + timedelta(days=_DAYS)))
        folder = self.delta_folder / "crm" / "customers"
        write_deltalake(folder, self._people("customers"), mode="append")
        return ["web.clicks", "crm.customers"]

    def _add_orders(self, name: str) -> None:
        orders = self._orders(_FIRST)
        table = self._iceberg.create_table(name, orders.schema)
        for week in range(3):
            table.append(self._orders(_FIRST + timedelta(weeks=week)))
        table.delete("amount < 5")

    def _orders(self, since: date) -> pa.Table:
        days = [since + timedelta(days=self._random.randrange(7)) for _ in range(_ROWS)]
        return pa.table(
            {
                "id": pa.array(range(_ROWS), pa.int64()),
                "day": pa.array(days, pa.date32()),
                "amount": [round(self._random.expovariate(1 / 80), 2) for _ in range(_ROWS)],
                "status": [self._random.choice(["open", "paid", "sent", None]) for _ in days],
            }
        )

    def _clicks(self, since: date) -> pa.Table:
        pages = [f"/page/{self._random.randrange(300)}" for _ in range(_ROWS)]
        return pa.table({"day": pa.array([since] * _ROWS, pa.date32()), "page": pages})

    def _people(self, name: str) -> pa.Table:
        first = self._random.randrange(1000)
        ids = list(range(first, first + 500))
        names = [f"{name[:-1]} {number}" for number in ids]
        return pa.table({"id": pa.array(ids, pa.int64()), "name": names})
