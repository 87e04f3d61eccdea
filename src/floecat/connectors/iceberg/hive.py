"""Iceberg tables in a Hive metastore, through the thrift client that comes with pyiceberg."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import timedelta
from typing import Any, Final
from urllib.parse import urlsplit

from floecat.connectors.failures import connector_error
from floecat.connectors.iceberg.catalog import Located, no_such_namespace, no_such_table
from floecat.connectors.iceberg.errors import missing_library
from floecat.connectors.revisions import revision_of
from floecat.connectors.spi.access import FileAccess
from floecat.connectors.spi.errors import (
    BrokenTableError,
    ConnectorError,
    TransientUpstreamError,
    UnsupportedByConnectorError,
)
from floecat.connectors.spi.records import Namespace

_GONE: Final = frozenset({"NoSuchObjectException", "UnknownDBException", "UnknownTableException"})
_BATCH: Final = 200
_PORT: Final = 9083


class HiveCatalog:
    """Databases are namespaces of one level; tables of other formats aren't shown."""

    def __init__(self, uri: str, access: FileAccess, timeout: timedelta) -> None:
        try:
            from hive_metastore import ThriftHiveMetastore  # noqa: PLC0415 - an extra
            from thrift.protocol import TBinaryProtocol  # noqa: PLC0415
            from thrift.Thrift import TException  # noqa: PLC0415
            from thrift.transport import TSocket, TTransport  # noqa: PLC0415
        except ImportError as error:
            raise missing_library("pyiceberg[hive]") from error
        self._errors = (TException, OSError)
        self._place = uri
        self._access = access
        parts = urlsplit(uri)
        socket = TSocket.TSocket(parts.hostname, parts.port or _PORT)
        socket.setTimeout(timeout.total_seconds() * 1000)
        self._transport = TTransport.TBufferedTransport(socket)
        protocol = TBinaryProtocol.TBinaryProtocol(self._transport)
        self._client = ThriftHiveMetastore.Client(protocol)

    def namespaces(self) -> Iterable[Namespace]:
        return [(str(name),) for name in self._call("get_all_databases")]

    def tables(self, namespace: Namespace) -> Iterable[str]:
        if len(namespace) != 1:
            raise no_such_namespace(namespace)
        gone = no_such_namespace(namespace)
        self._call("get_database", namespace[0], gone=gone)
        names = list(self._call("get_all_tables", namespace[0], gone=gone))
        return [str(table.tableName) for table in self._tables(namespace, names)]

    def revisions(self, namespace: Namespace, names: Collection[str]) -> Mapping[str, str]:
        if len(namespace) != 1:
            raise no_such_namespace(namespace)
        return {
            str(table.tableName): revision_of(table.parameters)
            for table in self._tables(namespace, sorted(names))
            if table.parameters.get("metadata_location")
        }

    def find_table(self, namespace: Namespace, name: str) -> Located:
        gone = no_such_table(namespace, name)
        if len(namespace) != 1:
            raise gone
        table = self._call("get_table", namespace[0], name, gone=gone)
        if not _is_iceberg(table):
            raise gone
        parameters = {str(key): str(value) for key, value in (table.parameters or {}).items()}
        location = parameters.pop("metadata_location", "")
        if not location:
            raise BrokenTableError(f"Hive doesn't say where the metadata of {name} is")
        return Located(metadata_location=location, access=self._access, properties=parameters)

    def views(self, namespace: Namespace) -> Iterable[str]:
        raise UnsupportedByConnectorError("a Hive metastore keeps no Iceberg views")

    def find_view(self, namespace: Namespace, name: str) -> Located:
        raise UnsupportedByConnectorError("a Hive metastore keeps no Iceberg views")

    def close(self) -> None:
        self._transport.close()

    def _tables(self, namespace: Namespace, names: Sequence[str]) -> Iterator[Any]:
        """The Iceberg tables among those named, many at a time."""
        gone = no_such_namespace(namespace)
        for start in range(0, len(names), _BATCH):
            batch = list(names[start : start + _BATCH])
            tables = self._call("get_table_objects_by_name", namespace[0], batch, gone=gone)
            yield from (table for table in tables if _is_iceberg(table))

    def _call(self, method: str, *arguments: Any, gone: ConnectorError | None = None) -> Any:
        try:
            if not self._transport.isOpen():
                self._transport.open()
            return getattr(self._client, method)(*arguments)
        except self._errors as error:
            if gone is not None and type(error).__name__ in _GONE:
                raise gone from error
            self._transport.close()  # half an answer may be left in it
            raise self._failed(error) from error

    def _failed(self, error: BaseException) -> ConnectorError:
        if type(error).__name__ == "TTransportException":
            return TransientUpstreamError(
                f"the Hive metastore at {self._place} can't be reached: check host and port, and "
                "that it is running"
            )
        return connector_error(error, self._place)


def _is_iceberg(table: Any) -> bool:
    return str((table.parameters or {}).get("table_type", "")).lower() == "iceberg"
