"""A lake behind an Iceberg REST server that misbehaves where a test says so."""

import json
import time
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.support.http_server import Answer, Asked
from tests.support.lake import Lake

import floecat
from ai.floedb.floecat.connector import connector_pb2

Fault = Callable[[int], Answer | None]
"""What to answer the n-th request with, 1 being the first; None for what is true."""

NOWHERE = Answer({"error": {"message": "no", "type": "NoSuchTableException", "code": 404}}, 404)


class RestLake:
    """Answers with what the lake has, unless there is a fault for that path."""

    def __init__(self, lake: Lake) -> None:
        self._lake = lake
        self.faults: dict[str, Fault] = {}
        self.asked_at: dict[str, list[float]] = defaultdict(list)
        """When each path was asked for, by its last part."""

    def __call__(self, asked: Asked) -> Answer:
        last = asked.path.rpartition("/")[2]
        times = self.asked_at[last]
        times.append(time.monotonic())
        fault = self.faults.get(last)
        answer = fault(len(times)) if fault else None
        return answer or self._truth(asked)

    def _truth(self, asked: Asked) -> Answer:
        match asked.path.strip("/").split("/"):
            case ["v1", "config"]:
                return Answer({"defaults": {}, "overrides": {}})
            case ["v1", "namespaces"] if "parent" in asked.query:
                return Answer({"namespaces": []})
            case ["v1", "namespaces"]:
                return Answer({"namespaces": self._lake.catalog.list_namespaces()})
            case ["v1", "namespaces", namespace, "tables"]:
                found = self._lake.catalog.list_tables(namespace)
                return Answer({"identifiers": [{"name": name} for _, name in found]})
            case ["v1", "namespaces", _, "views"]:
                return Answer({"identifiers": []})
            case ["v1", "namespaces", namespace, "tables", name]:
                return Answer(self._table(f"{namespace}.{name}"))
            case ["v1", "namespaces", namespace]:
                return Answer({"namespace": [namespace]})
            case _:
                return NOWHERE

    def _table(self, name: str) -> dict[str, Any]:
        location = self._lake.catalog.load_table(name).metadata_location
        metadata = json.loads(Path(location.removeprefix("file://")).read_text())
        return {"metadata-location": location, "metadata": metadata}


def create_rest_connector(clients: floecat.GrpcClients, uri: str) -> connector_pb2.Connector:
    """A connector to such a server, into the catalog `rest`."""
    spec = connector_pb2.ConnectorSpec(
        display_name="rest",
        kind_name="iceberg-rest",
        uri=uri,
        destination=connector_pb2.DestinationTarget(catalog_display_name="rest"),
    )
    request = connector_pb2.CreateConnectorRequest(spec=spec)
    return clients.connectors.CreateConnector(request).connector


def always(answer: Answer) -> Fault:
    return lambda _time: answer


def at_first(answer: Answer, times: int = 1) -> Fault:
    return lambda time: answer if time <= times else None


def slowly(seconds: float) -> Fault:
    """The truth, but late."""

    def wait(_time: int) -> None:
        time.sleep(seconds)

    return wait


def busy(retry_after: str) -> Answer:
    return Answer({"error": {"code": 429}}, 429, {"Retry-After": retry_after})
