"""Planning Iceberg files beside pyiceberg's own `plan_files`, on one table that pyiceberg wrote.

Floor: at most 0.6 × its time, which is 1.67 × its speed. Memory stays flat: ten manifests take no
more than one and a half times what one takes. Both sides load the table anew each time.
"""

import tempfile
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.conversions import to_bytes
from pyiceberg.manifest import DataFile, DataFileContent, FileFormat
from pyiceberg.partitioning import PartitionField, PartitionSpec
from pyiceberg.schema import Schema
from pyiceberg.transforms import IdentityTransform
from pyiceberg.typedef import Record
from pyiceberg.types import LongType, NestedField, StringType

from bench.report import Measurement, Report
from bench.types import best_seconds
from floecat.connectors.auth.providers import NoAuthProvider
from floecat.connectors.iceberg.factory import SQL
from floecat.connectors.spi.columns import ColumnScope
from floecat.connectors.spi.config import ConnectorConfig
from floecat.connectors.spi.connector import FloecatConnector
from floecat.connectors.spi.factory import ConnectorEnvironment
from floecat.security.guard import OutboundGuard, OutboundRules

MANIFESTS = 10
FILES_EACH = 1_000
COLUMNS = 20
SPEED_OF_PYICEBERG = 1 / 0.6
FLATNESS = 1 / 1.5
NAMESPACE = "bench"


def fill(catalog: SqlCatalog, name: str, manifests: int) -> Any:
    """A table whose data files exist in its manifests only: planning opens none of them."""
    schema = Schema(
        NestedField(1, "region", StringType()),
        *(NestedField(number, f"c{number}", LongType()) for number in range(2, COLUMNS + 1)),
    )
    by_region = PartitionField(1, 1000, IdentityTransform(), "region")
    table = catalog.create_table((NAMESPACE, name), schema, partition_spec=PartitionSpec(by_region))
    for manifest in range(manifests):
        with table.transaction() as change, change.update_snapshot().fast_append() as append:
            for number in range(FILES_EACH):
                append.append_data_file(data_file(table, manifest * FILES_EACH + number))
    return table


def data_file(table: Any, number: int) -> DataFile:
    ids = range(1, COLUMNS + 1)
    low, high = to_bytes(LongType(), number), to_bytes(LongType(), number + 1_000)
    region = f"region-{number % 50}"
    file = DataFile.from_args(
        content=DataFileContent.DATA,
        file_path=f"{table.location()}/data/region={region}/{number:08}-0123456789abcdef.parquet",
        file_format=FileFormat.PARQUET,
        partition=Record(region),
        record_count=1_000,
        file_size_in_bytes=1_000_000,
        column_sizes=dict.fromkeys(ids, 4_000),
        value_counts=dict.fromkeys(ids, 1_000),
        null_value_counts=dict.fromkeys(ids, 0),
        nan_value_counts={},
        lower_bounds={1: region.encode()} | dict.fromkeys(ids[1:], low),
        upper_bounds={1: region.encode()} | dict.fromkeys(ids[1:], high),
        split_offsets=[4],
    )
    file.spec_id = 0
    return file


def connect(folder: Path) -> FloecatConnector:
    rules = OutboundRules(file_roots=(folder,))
    environment = ConnectorEnvironment(auth=NoAuthProvider(), guard=OutboundGuard(rules))
    config = ConnectorConfig(kind_name=SQL.kind_name, uri=f"sqlite:///{folder}/catalog.db")
    return SQL.create(config, environment)


def plan(connector: FloecatConnector, name: str, columns: ColumnScope | None = None) -> int:
    """How many files there are, each of them looked at."""
    current = connector.describe((NAMESPACE,), name).current_snapshot_id
    assert current is not None
    bundle = connector.plan_snapshot_files((NAMESPACE,), name, current, columns)
    return sum(1 for _ in bundle.data_files)


def peak_bytes(work: Callable[[], object]) -> int:
    work()  # what is imported or cached for good is there now
    tracemalloc.start()
    try:
        work()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def measure() -> Report:
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place).resolve()
        catalog = SqlCatalog(
            "bench", uri=f"sqlite:///{folder}/catalog.db", warehouse=f"file://{folder}/warehouse"
        )
        catalog.create_namespace(NAMESPACE)
        fill(catalog, "wide", MANIFESTS)
        fill(catalog, "narrow", 1)
        with connect(folder) as connector:
            report = _compare(catalog, connector)
        catalog.engine.dispose()
        return report


def _compare(catalog: SqlCatalog, connector: FloecatConnector) -> Report:
    files = MANIFESTS * FILES_EACH
    first = ColumnScope(("c2",))

    def theirs() -> int:
        return sum(1 for _ in catalog.load_table((NAMESPACE, "wide")).scan().plan_files())

    assert theirs() == plan(connector, "wide") == files
    peer, ours, one, every = best_seconds(
        theirs,
        lambda: plan(connector, "wide"),
        lambda: plan(connector, "wide", first),
        lambda: plan(connector, "wide", ColumnScope()),
    )
    flat = peak_bytes(lambda: plan(connector, "narrow")) / peak_bytes(
        lambda: plan(connector, "wide")
    )
    name = f"plan {files:,} Iceberg files"
    return [
        Measurement(name, ours, "s"),
        Measurement(f"{name}, pyiceberg", peer, "s"),
        Measurement(name, peer / ours, "of pyiceberg's speed", SPEED_OF_PYICEBERG),
        Measurement(f"{name} with one column's statistics", peer / one, "of pyiceberg's speed"),
        Measurement(f"{name} with {COLUMNS} columns'", peer / every, "of pyiceberg's speed"),
        Measurement(f"{name}: memory of one manifest", flat, "of ten's", FLATNESS),
    ]
