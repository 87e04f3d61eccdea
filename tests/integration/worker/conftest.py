"""A folder of tables, a scripted control plane and a worker's parts."""

from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from examples.parquet_folder_connector import ParquetFolderConnector
from tests.support.control_plane import Script, serving_script
from tests.support.logs import log_everything
from tests.support.working import CountingFactory, Working, folder_opener, working

from floecat.worker.control import ControlPlane


@pytest.fixture(autouse=True)
def _logs() -> None:
    log_everything()


@pytest.fixture
def script() -> Script:
    return Script()


@pytest.fixture
def control(script: Script) -> Iterator[ControlPlane]:
    with serving_script(script) as control:
        yield control


@pytest.fixture
def lake(tmp_path: Path) -> Path:
    root = tmp_path / "lake"
    for name in ("sales/orders", "sales/items", "ops/jobs"):
        folder = root / name
        folder.mkdir(parents=True)
        for number in range(3):
            rows = pa.table({"id": [number, number + 1], "name": ["a", None]})
            pq.write_table(rows, folder / f"{number}.parquet")
    return root


@pytest.fixture
def factory() -> CountingFactory:
    return CountingFactory(ParquetFolderConnector)


@pytest.fixture
def worker(control: ControlPlane, factory: CountingFactory, lake: Path) -> Iterator[Working]:
    with working(control, folder_opener(factory, lake)) as parts:
        yield parts
