"""`floecat serve` as operators see it: how it stops, and what it writes down."""

import socket
import threading
import time
from contextlib import suppress
from pathlib import Path

from tests.support.cli import serving

import floecat
from ai.floedb.floecat.catalog.catalog_pb2 import CatalogSpec, CreateCatalogRequest
from ai.floedb.floecat.connector import connector_pb2 as messages
from floecat.errors import FloecatError


def test_a_call_that_goes_on_doesnt_keep_it_from_stopping(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        uri = f"http://127.0.0.1:{silent.getsockname()[1]}"
        spec = messages.ConnectorSpec(display_name="x", kind_name="delta-unity", uri=uri)
        with serving(tmp_path, server_grace="1s") as cli:
            threading.Thread(
                target=try_it, args=(cli.environment["FLOECAT_CLIENT_SERVER"], spec), daemon=True
            ).start()
            connection, _ = silent.accept()  # it is under way now, and nobody will answer it
            began = time.monotonic()
        connection.close()
        assert time.monotonic() - began < 10, "validation waits for longer than that"


def try_it(server: str, spec: messages.ConnectorSpec) -> None:
    with floecat.connect(server) as clients, suppress(FloecatError):
        clients.connectors.ValidateConnector(messages.ValidateConnectorRequest(spec=spec))


def test_mutations_are_written_down_whatever_the_log_level(tmp_path: Path) -> None:
    with (
        serving(tmp_path, log_level="error", log_format="json") as cli,
        floecat.connect(cli.environment["FLOECAT_CLIENT_SERVER"]) as clients,
    ):
        spec = CatalogSpec(display_name="lake")
        clients.catalogs.CreateCatalog(CreateCatalogRequest(spec=spec))
    assert '"event": "mutation"' in (tmp_path / "log").read_text()
