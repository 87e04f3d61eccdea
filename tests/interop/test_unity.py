"""Unity Catalog's own server, with a delta table on this machine."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from tests.interop.delta_checks import TABLE, DeltaLake, DeltaServerChecks, write_table
from tests.support.connectors import open_connector
from tests.support.servers.starting import started
from tests.support.servers.unity_catalog import API, running_unity_catalog

pytestmark = pytest.mark.interop("Unity Catalog (delta-unity)")

CATALOG, SCHEMA = "floecat", "sales"
COLUMNS = (("id", "LONG", "bigint"), ("name", "STRING", "string"), ("day", "STRING", "string"))


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    yield from started(running_unity_catalog())


@pytest.fixture(scope="module")
def lake(server: str, tmp_path_factory: pytest.TempPathFactory) -> DeltaLake:
    folder = tmp_path_factory.mktemp("unity")
    _register(server, folder)
    return DeltaLake(
        open=lambda: open_connector("delta-unity", server, roots=[folder], catalog=CATALOG),
        namespace=(CATALOG, SCHEMA),
        location=f"file://{folder}/{TABLE}",
    )


class TestUnity(DeltaServerChecks):
    pass


def _register(server: str, folder: Path) -> None:
    write_table(str(folder / TABLE))
    place = {"catalog_name": CATALOG, "schema_name": SCHEMA}
    columns = [
        {
            "name": name,
            "type_name": kind,
            "type_text": text,
            "type_json": f'{{"name":"{name}","type":"{text}","nullable":true,"metadata":{{}}}}',
            "position": number,
            "nullable": True,
        }
        for number, (name, kind, text) in enumerate(COLUMNS)
    ]
    table = {
        **place,
        "name": TABLE,
        "table_type": "EXTERNAL",
        "data_source_format": "DELTA",
        "storage_location": f"file://{folder}/{TABLE}",
        "columns": columns,
    }
    with httpx.Client(base_url=f"{server}{API}") as client:
        _post(client, "/catalogs", {"name": CATALOG})
        _post(client, "/schemas", {"name": SCHEMA, "catalog_name": CATALOG})
        _post(client, "/tables", table)


def _post(client: httpx.Client, path: str, body: dict[str, Any]) -> None:
    client.post(path, json=body).raise_for_status()
