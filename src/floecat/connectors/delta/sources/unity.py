"""Unity Catalog over REST: catalogs, schemas, tables and views, and keys for a table's files."""

import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any, Final
from urllib.parse import quote, urlencode

import httpx

from ai.floedb.floecat.catalog.view_pb2 import ViewColumn, ViewSqlDefinition
from floecat.connectors.delta.sources.port import TableLocation
from floecat.connectors.failures import connector_error, of_status
from floecat.connectors.spi.access import FileAccess
from floecat.connectors.spi.auth import OutgoingRequest
from floecat.connectors.spi.config import ConnectorConfig
from floecat.connectors.spi.errors import BrokenTableError, ConnectorError, UpstreamGoneError
from floecat.connectors.spi.factory import ConnectorEnvironment
from floecat.connectors.spi.records import Namespace, ViewDescriptor
from floecat.errors import FloecatError
from floecat.security.guard import scheme_of
from floecat.security.http import GuardedClient
from floecat.security.secret import Secret
from floecat.types.errors import InvalidTypeError, UnsupportedTypeError
from floecat.types.messages import to_message
from floecat.types.parse import parse_type

_API: Final = "/api/2.1/unity-catalog"
_VIEWS: Final = frozenset({"VIEW", "MATERIALIZED_VIEW"})
_MAX_PAGES: Final = 10_000
_ERROR_CODE: Final = re.compile(r"[A-Z_]{1,60}")


class UnitySource:
    """A Unity Catalog server. A namespace is a catalog, or a catalog and a schema."""

    def __init__(self, config: ConnectorConfig, environment: ConnectorEnvironment) -> None:
        self._base = config.uri.rstrip("/")
        self._place = f"Unity Catalog at {self._base}"
        self._only = config.options.get("catalog", "")
        self._region = config.options.get("s3.region")
        self._endpoint = config.options.get("s3.endpoint")
        self._environment = environment
        self._client = GuardedClient(environment.guard, timeout=environment.timeout)

    def list_namespaces(self) -> Iterator[Namespace]:
        for catalog in self._catalogs():
            yield (catalog,)
            for schema in self._pages("schemas", {"catalog_name": catalog}):
                yield (catalog, schema["name"])

    def list_tables(self, namespace: Namespace) -> Iterator[str]:
        for table in self._relations(namespace):
            if table.get("data_source_format") == "DELTA" and not _is_view(table):
                yield table["name"]

    def list_views(self, namespace: Namespace) -> Iterator[str]:
        for table in self._relations(namespace):
            if _is_view(table):
                yield table["name"]

    def locate(self, namespace: Namespace, name: str) -> TableLocation:
        table = self._relation(namespace, name)
        if _is_view(table):
            raise UpstreamGoneError(f"{'.'.join((*namespace, name))} is a view, not a table")
        root = table.get("storage_location")
        if not isinstance(root, str) or not root:
            raise BrokenTableError(f"{'.'.join((*namespace, name))} has no storage location")
        return TableLocation(
            root=root,
            access=self._access(root, table),
            description=str(table.get("comment") or ""),
            properties=_properties(table),
        )

    def describe_view(self, namespace: Namespace, name: str) -> ViewDescriptor:
        view = self._relation(namespace, name)
        if not _is_view(view):
            raise UpstreamGoneError(f"{'.'.join((*namespace, name))} is a table, not a view")
        return ViewDescriptor(
            namespace=namespace,
            name=name,
            sql_definitions=(
                ViewSqlDefinition(dialect="spark", sql=str(view.get("view_definition") or "")),
            ),
            output_columns=tuple(_view_column(c) for c in self._rows(view.get("columns") or [])),
            default_catalog=namespace[0],
            default_namespace=namespace[1:],
            description=str(view.get("comment") or ""),
            properties=_properties(view),
        )

    def close(self) -> None:
        self._client.close()

    def _catalogs(self) -> Iterator[str]:
        if self._only:
            self._get(f"catalogs/{quote(self._only, safe='')}")
            yield self._only
            return
        for catalog in self._pages("catalogs", {}):
            yield catalog["name"]

    def _relations(self, namespace: Namespace) -> Iterator[Mapping[str, Any]]:
        if len(namespace) == 1:
            if namespace[0] not in set(self._catalogs()):
                raise UpstreamGoneError(f"there is no catalog {namespace[0]} in Unity Catalog")
            return
        if len(namespace) != 2:
            raise UpstreamGoneError(f"Unity Catalog has no namespace {'.'.join(namespace)}")
        catalog, schema = namespace
        self._named(f"schemas/{quote(catalog, safe='')}.{quote(schema, safe='')}", namespace)
        yield from self._pages("tables", {"catalog_name": catalog, "schema_name": schema})

    def _relation(self, namespace: Namespace, name: str) -> Mapping[str, Any]:
        full = ".".join(quote(part, safe="") for part in (*namespace, name))
        return self._named(f"tables/{full}", (*namespace, name))

    def _named(self, path: str, name: tuple[str, ...]) -> Mapping[str, Any]:
        return self._get(path, gone=f"{'.'.join(name)} isn't in Unity Catalog")

    def _access(self, root: str, table: Mapping[str, Any]) -> FileAccess:
        """Keys for this table alone, which the catalog lends for a while."""
        rules = self._environment.guard.rules
        if scheme_of(root) in {"", "file"}:
            return FileAccess(rules=rules)
        body = {"table_id": table.get("table_id", ""), "operation": "READ"}
        lent = self._ask("POST", "temporary-table-credentials", json=body)
        keys = lent.get("aws_temp_credentials") or {}
        expires = lent.get("expiration_time")
        return FileAccess(
            rules=rules,
            region=self._region,
            endpoint=self._endpoint,
            access_key_id=_secret(keys.get("access_key_id")),
            secret_access_key=_secret(keys.get("secret_access_key")),
            session_token=_secret(keys.get("session_token")),
            expires_at=datetime.fromtimestamp(expires / 1000, UTC) if expires else None,
        )

    def _pages(self, what: str, filters: Mapping[str, str]) -> Iterator[Mapping[str, Any]]:
        token = ""
        for _ in range(_MAX_PAGES):
            query = {**filters, **({"page_token": token} if token else {})}
            answer = self._get(f"{what}?{urlencode(query)}" if query else what)
            yield from self._rows(answer.get(what) or [])
            token = str(answer.get("next_page_token") or "")
            if not token:
                return
        raise BrokenTableError("Unity Catalog's listing doesn't end")

    def _rows(self, listed: Any) -> list[Mapping[str, Any]]:
        """What a listing lists, if it has the form of one."""
        if not isinstance(listed, list) or not all(_is_named(row) for row in listed):
            raise self._senseless("it isn't a list of things with names")
        return listed

    def _senseless(self, why: str) -> ConnectorError:
        return connector_error(ValueError(f"its answer makes no sense: {why}"), self._place)

    def _get(self, path: str, gone: str = "") -> Mapping[str, Any]:
        return self._ask("GET", path, gone=gone)

    def _ask(self, method: str, path: str, *, gone: str = "", **content: Any) -> Mapping[str, Any]:
        url = f"{self._base}{_API}/{path}"
        request = OutgoingRequest(method, url)
        try:
            headers = dict(self._environment.auth.headers_for(request))
            response = self._client.request(method, url, headers=headers, **content)
            if response.status_code == httpx.codes.NOT_FOUND and gone:
                raise UpstreamGoneError(gone)
            if response.status_code != httpx.codes.OK:
                raise of_status(response.status_code, self._place, detail=_detail(response))
            answer = response.json()
        except ConnectorError:
            raise
        except (httpx.HTTPError, OSError, FloecatError, ValueError, RecursionError) as error:
            raise connector_error(error, self._place) from error
        if not isinstance(answer, dict):
            raise self._senseless("it isn't a JSON object")
        return answer


def _is_named(row: object) -> bool:
    return isinstance(row, dict) and isinstance(row.get("name"), str)


def _is_view(table: Mapping[str, Any]) -> bool:
    return table.get("table_type") in _VIEWS


def _properties(relation: Mapping[str, Any]) -> dict[str, str]:
    given = relation.get("properties")
    return {str(k): str(v) for k, v in given.items()} if isinstance(given, dict) else {}


def _view_column(column: Mapping[str, Any]) -> ViewColumn:
    text = str(column.get("type_text") or "")
    try:
        logical = to_message(parse_type(text))
    except (InvalidTypeError, UnsupportedTypeError):
        logical = None
    return ViewColumn(
        name=column["name"],
        type=logical,
        nullable=bool(column.get("nullable", True)),
        comment=str(column.get("comment") or ""),
    )


def _detail(response: httpx.Response) -> str:
    """The server's word for what went wrong; not its text, which may repeat what it was sent."""
    try:
        code = response.json().get("error_code")
    except (ValueError, AttributeError, RecursionError):
        return ""
    return code if isinstance(code, str) and _ERROR_CODE.fullmatch(code) else ""


def _secret(value: object) -> Secret[str] | None:
    return Secret(value) if isinstance(value, str) and value else None
