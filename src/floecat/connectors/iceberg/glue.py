"""Iceberg tables in AWS's Glue Data Catalog."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any, Final

from floecat.connectors.failures import connector_error
from floecat.connectors.iceberg.catalog import Located, no_such_namespace, no_such_table
from floecat.connectors.revisions import revision_of
from floecat.connectors.spi.access import FileAccess
from floecat.connectors.spi.errors import BrokenTableError, UnsupportedByConnectorError
from floecat.connectors.spi.records import Namespace

_GONE: Final = "EntityNotFoundException"


class GlueCatalog:
    """Databases are namespaces of one level; tables of other formats aren't shown."""

    def __init__(self, client: Any, access: FileAccess, catalog_id: str) -> None:
        from botocore.exceptions import BotoCoreError, ClientError  # noqa: PLC0415 - an extra

        self._errors = (BotoCoreError, ClientError)
        self._client = client
        self._access = access
        self._catalog = {"CatalogId": catalog_id} if catalog_id else {}

    def namespaces(self) -> Iterable[Namespace]:
        pages = self._pages("get_databases", {})
        return [(str(database["Name"]),) for page in pages for database in page["DatabaseList"]]

    def tables(self, namespace: Namespace) -> Iterable[str]:
        return [str(table["Name"]) for table in self._listed(namespace)]

    def revisions(self, namespace: Namespace, names: Collection[str]) -> Mapping[str, str]:
        """From the pages of a listing: they hold what is asked of a table one by one."""
        wanted = frozenset(names)
        return {
            str(table["Name"]): revision_of(table["Parameters"], table.get("Description"))
            for table in self._listed(namespace)
            if table["Name"] in wanted and table["Parameters"].get("metadata_location")
        }

    def find_table(self, namespace: Namespace, name: str) -> Located:
        if len(namespace) != 1:
            raise no_such_table(namespace, name)
        try:
            answer = self._client.get_table(DatabaseName=namespace[0], Name=name, **self._catalog)
        except self._errors as error:
            if _code(error) == _GONE:
                raise no_such_table(namespace, name) from error
            raise connector_error(error, "Glue") from error
        table = answer["Table"]
        if not _is_iceberg(table):
            raise no_such_table(namespace, name)
        return self._located(table, name)

    def views(self, namespace: Namespace) -> Iterable[str]:
        raise UnsupportedByConnectorError("Glue keeps no Iceberg views")

    def find_view(self, namespace: Namespace, name: str) -> Located:
        raise UnsupportedByConnectorError("Glue keeps no Iceberg views")

    def close(self) -> None:
        self._client.close()

    def _listed(self, namespace: Namespace) -> list[Mapping[str, Any]]:
        if len(namespace) != 1:
            raise no_such_namespace(namespace)
        try:
            pages = list(self._pages("get_tables", {"DatabaseName": namespace[0]}))
        except self._errors as error:
            if _code(error) == _GONE:
                raise no_such_namespace(namespace) from error
            raise connector_error(error, "Glue") from error
        return [table for page in pages for table in page["TableList"] if _is_iceberg(table)]

    def _located(self, table: Mapping[str, Any], name: str) -> Located:
        parameters = {str(key): str(value) for key, value in table.get("Parameters", {}).items()}
        location = parameters.pop("metadata_location", "")
        if not location:
            raise BrokenTableError(f"Glue doesn't say where the metadata of {name} is")
        if table.get("Description"):
            parameters["comment"] = str(table["Description"])
        return Located(metadata_location=location, access=self._access, properties=parameters)

    def _pages(self, operation: str, asked: Mapping[str, str]) -> Iterator[Any]:
        try:
            yield from self._client.get_paginator(operation).paginate(**asked, **self._catalog)
        except self._errors as error:
            if _code(error) == _GONE:
                raise
            raise connector_error(error, "Glue") from error


def _is_iceberg(table: Mapping[str, Any]) -> bool:
    return str(table.get("Parameters", {}).get("table_type", "")).lower() == "iceberg"


def _code(error: Any) -> str:
    response = getattr(error, "response", None) or {}
    return str(response.get("Error", {}).get("Code", ""))
