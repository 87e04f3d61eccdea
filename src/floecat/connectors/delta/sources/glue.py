"""AWS Glue's catalog: databases, and those of their tables that are delta."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from floecat.connectors.access import own_access
from floecat.connectors.delta.sources.port import TableLocation
from floecat.connectors.failures import connector_error
from floecat.connectors.glue import glue_client
from floecat.connectors.spi.access import FileAccess
from floecat.connectors.spi.config import ConnectorConfig
from floecat.connectors.spi.errors import (
    BrokenTableError,
    UnsupportedByConnectorError,
    UpstreamGoneError,
)
from floecat.connectors.spi.factory import ConnectorEnvironment
from floecat.connectors.spi.records import Namespace, ViewDescriptor

_PROVIDER: Final = "spark.sql.sources.provider"


class GlueSource:
    """A Glue catalog. A namespace is a database."""

    def __init__(self, config: ConnectorConfig, environment: ConnectorEnvironment) -> None:
        self._client = glue_client(config, environment)
        self._options = config.options
        self._environment = environment

    def list_namespaces(self) -> Iterator[Namespace]:
        for page in self._pages("get_databases"):
            for database in page["DatabaseList"]:
                yield (database["Name"],)

    def list_tables(self, namespace: Namespace) -> Iterator[str]:
        for page in self._pages("get_tables", DatabaseName=_database(namespace)):
            for table in page["TableList"]:
                if _is_delta(table):
                    yield table["Name"]

    def locate(self, namespace: Namespace, name: str) -> TableLocation:
        database = _database(namespace)
        try:
            table = self._client.get_table(DatabaseName=database, Name=name)["Table"]
        except Exception as error:
            raise _failure(error, f"{database}.{name}") from error
        if not _is_delta(table):
            raise UpstreamGoneError(f"{database}.{name} in Glue isn't a delta table")
        root = _location(table)
        if not root:
            raise BrokenTableError(f"{database}.{name} in Glue has no location")
        return TableLocation(
            root=root,
            access=self._access(),
            description=table.get("Description") or "",
            properties=dict(table.get("Parameters") or {}),
        )

    def list_views(self, namespace: Namespace) -> Iterator[str]:
        raise UnsupportedByConnectorError("views in Glue aren't delta's")

    def describe_view(self, namespace: Namespace, name: str) -> ViewDescriptor:
        raise UnsupportedByConnectorError("views in Glue aren't delta's")

    def close(self) -> None:
        self._client.close()

    def _access(self) -> FileAccess:
        return own_access(self._environment.guard.rules, self._environment.auth, self._options)

    def _pages(self, operation: str, **filters: Any) -> Iterator[Mapping[str, Any]]:
        try:
            yield from self._client.get_paginator(operation).paginate(**filters)
        except Exception as error:
            raise _failure(error, ".".join(filters.values())) from error


def _database(namespace: Namespace) -> str:
    if len(namespace) != 1:
        raise UpstreamGoneError(f"Glue has no namespace {'.'.join(namespace)}")
    return namespace[0]


def _is_delta(table: Mapping[str, Any]) -> bool:
    parameters = table.get("Parameters") or {}
    named = (parameters.get("table_type") or parameters.get(_PROVIDER) or "").lower()
    return named == "delta"


def _location(table: Mapping[str, Any]) -> str:
    """Where the files are: Spark notes it beside the serializer, crawlers in the descriptor."""
    storage = table.get("StorageDescriptor") or {}
    noted = ((storage.get("SerdeInfo") or {}).get("Parameters") or {}).get("path")
    return str(
        noted or storage.get("Location") or (table.get("Parameters") or {}).get("location", "")
    )


def _failure(error: Exception, what: str) -> Exception:
    code = getattr(error, "response", {}).get("Error", {}).get("Code", "")
    if code == "EntityNotFoundException":
        return UpstreamGoneError(f"there is no {what} in Glue")
    return connector_error(error, "AWS Glue")
