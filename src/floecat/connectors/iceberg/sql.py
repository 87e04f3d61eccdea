"""Catalogs in a SQL database, in the tables that Iceberg's JDBC catalog and pyiceberg share."""

import re
from collections.abc import Collection, Iterable, Mapping
from typing import Any, Final

from floecat.connectors.failures import connector_error
from floecat.connectors.iceberg.catalog import (
    Located,
    dotted,
    no_such_namespace,
    no_such_table,
    no_such_view,
    with_parents,
)
from floecat.connectors.iceberg.errors import missing_library
from floecat.connectors.revisions import revision_of
from floecat.connectors.spi.access import FileAccess
from floecat.connectors.spi.errors import (
    ConnectorError,
    PermanentUpstreamError,
    TransientUpstreamError,
    UpstreamGoneError,
    UpstreamProblem,
)
from floecat.connectors.spi.records import Namespace

_TABLES: Final = "iceberg_tables"
_PROPERTIES: Final = "iceberg_namespace_properties"
_NAMES: Final = (
    "SELECT catalog_name FROM iceberg_tables UNION "
    "SELECT catalog_name FROM iceberg_namespace_properties ORDER BY 1"
)
_SPACES: Final = (
    "SELECT DISTINCT namespace FROM iceberg_namespace_properties WHERE catalog_name = :catalog"
)
_USED: Final = "SELECT DISTINCT table_namespace FROM iceberg_tables WHERE catalog_name = :catalog"
_RELATIONS: Final = (
    "SELECT * FROM iceberg_tables WHERE catalog_name = :catalog AND table_namespace = :namespace"
)
_VIEW: Final = "VIEW"
_REFUSALS: Final = (
    (
        re.compile(r"authentication failed|no password|role .* does not exist"),
        UpstreamProblem.UNAUTHENTICATED,
        "the database doesn't accept user and password",
    ),
    (
        re.compile(r"unable to open database file|database .* does not exist"),
        UpstreamProblem.NO_SUCH_WAREHOUSE,
        "there is no such database",
    ),
    (
        re.compile(r"file is not a database|malformed"),
        UpstreamProblem.NO_SUCH_WAREHOUSE,
        "it isn't a database",
    ),
)


class SqlCatalog:
    """Reads two tables and writes nothing. Views are rows that say so, where there are such."""

    def __init__(self, url: Any, access: FileAccess, catalog: str, place: str) -> None:
        try:
            import sqlalchemy  # noqa: PLC0415 - an extra
        except ImportError as error:
            raise missing_library("sqlalchemy") from error
        self._library = sqlalchemy
        self._place = place
        self._access = access
        try:
            self._engine = sqlalchemy.create_engine(url, poolclass=sqlalchemy.NullPool)
            self._check()
        except (sqlalchemy.exc.SQLAlchemyError, ImportError) as error:
            raise self._failed(error) from error
        self._catalog = catalog
        self._name()

    def namespaces(self) -> Iterable[Namespace]:
        name = self._name()
        rows = self._rows(_SPACES, catalog=name) + self._rows(_USED, catalog=name)
        spaces = [row[0] for row in rows]
        return with_parents({tuple(str(space).split(".")) for space in spaces})

    def tables(self, namespace: Namespace) -> Iterable[str]:
        return [row.table_name for row in self._relations(namespace) if not _is_view(row)]

    def revisions(self, namespace: Namespace, names: Collection[str]) -> Mapping[str, str]:
        """One query tells them all."""
        wanted = frozenset(names)
        return {
            row.table_name: revision_of(row.metadata_location)
            for row in self._stored(namespace)
            if row.table_name in wanted and row.metadata_location and not _is_view(row)
        }

    def views(self, namespace: Namespace) -> Iterable[str]:
        return [row.table_name for row in self._relations(namespace) if _is_view(row)]

    def find_table(self, namespace: Namespace, name: str) -> Located:
        return self._located(namespace, name, no_such_table(namespace, name), is_view=False)

    def find_view(self, namespace: Namespace, name: str) -> Located:
        return self._located(namespace, name, no_such_view(namespace, name), is_view=True)

    def close(self) -> None:
        self._engine.dispose()

    def _located(
        self, namespace: Namespace, name: str, gone: UpstreamGoneError, *, is_view: bool
    ) -> Located:
        for row in self._stored(namespace):
            if row.table_name == name and _is_view(row) == is_view:
                return Located(metadata_location=row.metadata_location or "", access=self._access)
        raise gone

    def _relations(self, namespace: Namespace) -> list[Any]:
        rows = self._stored(namespace)
        if not rows and namespace not in set(self.namespaces()):
            raise no_such_namespace(namespace)
        return sorted(rows, key=lambda row: str(row.table_name))

    def _stored(self, namespace: Namespace) -> list[Any]:
        return self._rows(_RELATIONS, catalog=self._name(), namespace=dotted(namespace))

    def _check(self) -> None:
        inspector = self._library.inspect(self._engine)
        for table in (_TABLES, _PROPERTIES):
            if not inspector.has_table(table):
                raise PermanentUpstreamError(
                    f"{self._place} holds no Iceberg catalog: it has no table {table}",
                    UpstreamProblem.NO_SUCH_WAREHOUSE,
                )

    def _name(self) -> str:
        """The catalog's name: as configured, or of the only one, once there is one."""
        self._catalog = self._catalog or self._only_catalog()
        return self._catalog

    def _only_catalog(self) -> str:
        names = [str(row[0]) for row in self._rows(_NAMES)]
        if len(names) > 1:
            raise PermanentUpstreamError(
                f"{self._place} holds several catalogs ({', '.join(names)}): choose one with the "
                "option catalog-name",
                UpstreamProblem.BAD_SPEC,
            )
        return names[0] if names else ""

    def _rows(self, query: str, **values: str) -> list[Any]:
        try:
            with self._engine.connect() as connection:
                return list(connection.execute(self._library.text(query), values))
        except self._library.exc.SQLAlchemyError as error:
            raise self._failed(error) from error

    def _failed(self, error: BaseException) -> ConnectorError:
        """Drivers say what is wrong in words only; what they can't say may pass."""
        if not isinstance(error, self._library.exc.OperationalError):
            return connector_error(error, self._place)
        for words, problem, hint in _REFUSALS:
            if words.search(str(error)):
                return PermanentUpstreamError(f"{self._place}: {hint}", problem)
        return TransientUpstreamError(f"the database {self._place} can't be reached or is busy")


def _is_view(row: Any) -> bool:
    return getattr(row, "iceberg_type", None) == _VIEW
