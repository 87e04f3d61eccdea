"""Every relation below a place, whatever catalog owns it, a page at a time."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from ai.floedb.floecat.catalog.directory_pb2 import ResolvedRelation
from ai.floedb.floecat.common import common_pb2
from ai.floedb.floecat.common.common_pb2 import NameRef
from floecat.catalog import keys
from floecat.catalog.callers import Caller, resource_id
from floecat.catalog.paging import MAX_PAGE_BYTES, Page, PageCursor, bad_token
from floecat.catalog.records import CatalogStores
from floecat.catalog.tree import Place, Tree
from floecat.catalog.walk import walk
from floecat.errors import NotFoundError
from floecat.storage.kv.port import KeyValueStore

_BATCH: Final = 200
_PARTITIONS: Final = (
    (common_pb2.RK_TABLE, keys.tables),
    (common_pb2.RK_VIEW, keys.views),
)


@dataclass(frozen=True, slots=True)
class _Namespace:
    """A namespace whose relations are listed, and how the walk goes on behind it."""

    id: str
    path: tuple[str, ...]
    way: str | None


@dataclass(frozen=True, slots=True)
class _Position:
    """A relation in the order of the listing."""

    namespace: _Namespace
    partition: int
    name: str

    @property
    def token(self) -> str:
        here = self.namespace
        return json.dumps([here.id, list(here.path), here.way, self.partition, self.name])


def relations_below(
    stores: CatalogStores, caller: Caller, start: Place, cursor: PageCursor
) -> Page[ResolvedRelation]:
    """A page of relations: by namespace, depth first; in each the tables, then the views."""
    found: list[tuple[_Position, ResolvedRelation]] = []
    size = 0
    for position, identifier in _relations(stores, caller, start, cursor.after):
        kind, _ = _PARTITIONS[position.partition]
        name = NameRef(
            catalog=start.catalog.message.display_name,
            path=position.namespace.path,
            name=position.name,
        )
        found_id = resource_id(caller.account_id, kind, identifier)
        answer = ResolvedRelation(name=name, resource_id=found_id)
        size += answer.ByteSize()
        if found and (len(found) == cursor.size or size > MAX_PAGE_BYTES):
            return Page([relation for _, relation in found], cursor.token(found[-1][0].token))
        found.append((position, answer))
    return Page([relation for _, relation in found])


def _relations(
    stores: CatalogStores, caller: Caller, start: Place, token: str | None
) -> Iterator[tuple[_Position, str]]:
    account = caller.account_id
    way: str | None = None
    if token is not None:
        position = _position(token)
        way = position.namespace.way
        if _is_there(stores, account, position.namespace):
            yield from _in_namespace(
                stores.kv, account, position.namespace, position.partition, position.name
            )
    elif start.namespaces:
        here = _Namespace(start.id, tuple(start.path), None)
        yield from _in_namespace(stores.kv, account, here)
    for visited in walk(stores, caller, start, way):
        here = _Namespace(visited.id, visited.path, visited.way)
        yield from _in_namespace(stores.kv, account, here)


def _position(token: str) -> _Position:
    try:
        identifier, path, way, partition, name = json.loads(token)
        here = _Namespace(str(identifier), tuple(path), way)
        return _Position(here, range(len(_PARTITIONS))[partition], str(name))
    except (ValueError, TypeError, IndexError) as error:
        raise bad_token() from error


def _is_there(stores: CatalogStores, account: str, namespace: _Namespace) -> bool:
    """Whether a namespace still lies where the last page left it."""
    try:
        return tuple(Tree(stores).namespace(account, namespace.id).path) == namespace.path
    except NotFoundError:
        return False


def _in_namespace(
    kv: KeyValueStore,
    account: str,
    namespace: _Namespace,
    partition: int = 0,
    after: str | None = None,
) -> Iterator[tuple[_Position, str]]:
    for index in range(partition, len(_PARTITIONS)):
        _, names = _PARTITIONS[index]
        while records := kv.scan(names(account, namespace.id), after=after, limit=_BATCH):
            for record in records:
                after = record.key.sort
                yield _Position(namespace, index, after), record.value.decode()
        after = None
