"""Does every index agree with its record, and every record with what it refers to? Read only.

Walks the whole store once, looks each thing up by key and reads blobs in pieces, so memory stays
flat however much there is. Under concurrent writes a finding may be about a moment that has passed:
check again before believing it.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final, TypeAlias

from google.protobuf.message import DecodeError, Message

from ai.floedb.floecat.account.account_pb2 import Account
from ai.floedb.floecat.catalog.catalog_pb2 import Catalog
from ai.floedb.floecat.catalog.constraints_pb2 import TableConstraints
from ai.floedb.floecat.catalog.namespace_pb2 import Namespace
from ai.floedb.floecat.catalog.snapshot_pb2 import Snapshot
from ai.floedb.floecat.catalog.table_pb2 import Table
from ai.floedb.floecat.catalog.view_pb2 import View
from ai.floedb.floecat.common import common_pb2
from ai.floedb.floecat.common.common_pb2 import BlobReference
from ai.floedb.floecat.connector.connector_pb2 import Connector
from floecat.catalog import keys
from floecat.catalog.codec import Stored
from floecat.catalog.kinds import KIND_NAMES, KINDS_BY_NAME, MESSAGE_TYPES, Kind
from floecat.catalog.records import CatalogStores
from floecat.catalog.references import references_of
from floecat.catalog.timeline import moment_of
from floecat.catalog.tree import parent_id
from floecat.errors import FloecatError
from floecat.storage.kv.port import Key, KeyValueStore, Record

_PIECE_BYTES: Final = 1024 * 1024


@dataclass(frozen=True, slots=True)
class Finding:
    """Something that doesn't match."""

    key: Key
    problem: str


RecordCheck: TypeAlias = Callable[[Record], Iterator[str]]
"""What is wrong with a record."""


def findings(kv: KeyValueStore, checks: Mapping[str, RecordCheck]) -> Iterator[Finding]:
    """Walk a store once, with a check for each area that has one."""
    for record in kv.dump():
        check = checks.get(record.key.partition.partition("/")[0])
        if check is None or not _problems(check, record):
            continue
        # Somebody may have written between our looks: only what is still wrong is wrong.
        fresh = kv.get(record.key)
        for problem in _problems(check, fresh) if fresh else ():
            yield Finding(record.key, problem)


def _problems(check: RecordCheck, record: Record) -> list[str]:
    try:
        return list(check(record))
    except (DecodeError, FloecatError, ValueError) as error:
        return [f"can't be read: {error}"]


class ConsistencyCheck:
    """Checks the catalog's records and indexes."""

    def __init__(self, stores: CatalogStores) -> None:
        self._kv = stores.kv
        self._codec = stores.codec
        self._checks: Mapping[str, RecordCheck] = {
            "resource": self._resource,
            "accounts": self._name_of(common_pb2.RK_ACCOUNT),
            "default": self._default,
            "catalogs": self._name_of(common_pb2.RK_CATALOG),
            "namespaces": self._name_of(common_pb2.RK_NAMESPACE),
            "tables": self._name_of(common_pb2.RK_TABLE),
            "connectors": self._name_of(common_pb2.RK_CONNECTOR),
            "views": self._name_of(common_pb2.RK_VIEW),
            "snapshot": self._snapshot,
            "timeline": self._moment,
            "constraints": self._constraints,
            "overlay": self._overlay,
            "sweep": self._sweep,
            "idempotency": self._answer,
        }

    def run(self) -> Iterator[Finding]:
        """Everything that doesn't match, as it is found."""
        return findings(self._kv, self._checks)

    def _default(self, record: Record) -> Iterator[str]:
        identifier = record.value.decode()
        if self._kv.get(keys.resource(identifier, common_pb2.RK_ACCOUNT, identifier)) is None:
            yield "names an account that doesn't exist"

    def _resource(self, record: Record) -> Iterator[str]:
        account = _account_in(record.key)
        kind_name, identifier = record.key.sort.split("/")
        kind = KINDS_BY_NAME[kind_name]
        stored = self._codec.decode(record, MESSAGE_TYPES[kind])
        message = stored.message
        if message.resource_id.id != identifier:  # type: ignore[attr-defined]
            yield "has another id inside"
        if stored.deleting:
            if self._kv.get(keys.sweep(account, kind, identifier)) is None:
                yield "is being deleted, but no sweep row says so"
            return
        name = self._kv.get(_name_key(account, kind, message))
        if name is None or name.value.decode() != identifier:
            yield f"isn't found under its name {message.display_name!r}"  # type: ignore[attr-defined]
        for parent in _parents(account, message):
            if self._kv.get(parent) is None:
                yield f"lies in {parent.sort}, which doesn't exist"

    def _name_of(self, kind: Kind) -> RecordCheck:
        def check(record: Record) -> Iterator[str]:
            identifier = record.value.decode()
            account = identifier if kind == common_pb2.RK_ACCOUNT else _account_in(record.key)
            stored = self._find(account, kind, identifier)
            if stored is None or stored.deleting:
                yield f"names {KIND_NAMES[kind]} {identifier}, which doesn't exist"
            elif _name_key(account, kind, stored.message) != record.key:
                yield f"names {KIND_NAMES[kind]} {identifier}, which is called something else"

        return check

    def _snapshot(self, record: Record) -> Iterator[str]:
        _, account, table_id = record.key.partition.split("/")
        stored = self._codec.decode(record, Snapshot)
        self._read_through(stored.attachments.values())
        at = keys.at_moment(moment_of(stored.message), stored.message.snapshot_id)
        if self._kv.get(Key(keys.timeline(account, table_id), at)) is None:
            yield "isn't on its table's timeline"
        if self._find(account, common_pb2.RK_TABLE, table_id) is None:
            yield "belongs to a table that doesn't exist"

    def _moment(self, record: Record) -> Iterator[str]:
        _, account, table_id = record.key.partition.split("/")
        snapshot_id = keys.snapshot_at(record.key.sort)
        if self._kv.get(keys.snapshot(account, table_id, snapshot_id)) is None:
            yield "points to a snapshot that doesn't exist"

    def _constraints(self, record: Record) -> Iterator[str]:
        self._codec.decode(record, TableConstraints)
        yield from self._moment(record)

    def _overlay(self, record: Record) -> Iterator[str]:
        """It may be of a snapshot that isn't recorded yet, but not of a table that isn't there."""
        _, account, table_id = record.key.partition.split("/")
        self._read_through(references_of(record))
        if self._find(account, common_pb2.RK_TABLE, table_id) is None:
            yield "is of a table that doesn't exist"

    def _sweep(self, record: Record) -> Iterator[str]:
        account, kind_name, identifier = record.key.sort.split("/")
        stored = self._find(account, KINDS_BY_NAME[kind_name], identifier)
        if stored is not None and not stored.deleting:
            yield "is to be swept, but isn't deleted"

    def _answer(self, record: Record) -> Iterator[str]:
        self._read_through(references_of(record))
        yield from ()

    def _read_through(self, references: Iterable[BlobReference]) -> None:
        """Read blobs to their ends, in pieces: an attachment may be larger than memory is."""
        for reference in references:
            for _ in self._codec.pieces(reference, _PIECE_BYTES):
                pass

    def _find(self, account: str, kind: Kind, identifier: str) -> Stored[Message] | None:
        record = self._kv.get(keys.resource(account, kind, identifier))
        return self._codec.decode(record, MESSAGE_TYPES[kind]) if record else None


def _account_in(key: Key) -> str:
    return key.partition.split("/")[1]


def _name_key(account: str, kind: Kind, message: Message) -> Key:
    match message:
        case Namespace():
            partition = keys.namespaces(account, parent_id(message))
        case Table():
            partition = keys.tables(account, message.namespace_id.id)
        case View():
            partition = keys.views(account, message.namespace_id.id)
        case Catalog():
            partition = keys.catalogs(account)
        case Connector():
            partition = keys.connectors(account)
        case Account():
            partition = keys.ACCOUNTS
        case _:
            raise ValueError(f"{KIND_NAMES[kind]} has no name")
    return Key(partition, message.display_name)


def _parents(account: str, message: Message) -> list[Key]:
    match message:
        case Namespace() if message.HasField("parent_id"):
            return [keys.resource(account, common_pb2.RK_NAMESPACE, message.parent_id.id)]
        case Namespace():
            return [keys.resource(account, common_pb2.RK_CATALOG, message.catalog_id.id)]
        case Table() | View():
            return [keys.resource(account, common_pb2.RK_NAMESPACE, message.namespace_id.id)]
        case Catalog() | Connector():
            return [keys.resource(account, common_pb2.RK_ACCOUNT, account)]
        case _:
            return []
