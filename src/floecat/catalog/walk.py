"""Trees of namespaces, depth first, a page at a time.

The page token holds the way to where the last page ended, so the next one goes on from there
whatever was added or removed meanwhile.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from ai.floedb.floecat.catalog.namespace_pb2 import Namespace
from ai.floedb.floecat.common import common_pb2
from floecat.catalog import keys
from floecat.catalog.callers import Caller
from floecat.catalog.codec import serialized
from floecat.catalog.contents import framed
from floecat.catalog.paging import Page, PageCursor, bad_token, fitting
from floecat.catalog.records import CatalogStores, Records
from floecat.catalog.tree import Place, parent_id
from floecat.storage.kv.port import KeyValueStore

_BATCH: Final = 100
_MOST_VISITED: Final = 2000


@dataclass(frozen=True, slots=True)
class Visited:
    """A namespace that a walk came to."""

    id: str
    parents: tuple[str, ...]
    name: str
    way: str
    """Resumes the walk right behind this namespace, with what lies below it."""

    @property
    def path(self) -> tuple[str, ...]:
        return (*self.parents, self.name)


@dataclass(slots=True)
class _Level:
    """The children of one parent, and how far the walk got with them."""

    parent_id: str
    path: tuple[str, ...]
    after: str | None = None
    ahead: list[tuple[str, str]] = field(default_factory=list)
    """Names and ids read, but not yet visited, nearest last."""

    def next_child(self, kv: KeyValueStore, account: str) -> tuple[str, str] | None:
        if not self.ahead:
            partition = keys.namespaces(account, self.parent_id)
            records = kv.scan(partition, after=self.after, limit=_BATCH)
            self.ahead = [(r.key.sort, r.value.decode()) for r in reversed(records)]
        if not self.ahead:
            return None
        name, identifier = self.ahead.pop()
        self.after = name
        return name, identifier


def walk(
    stores: CatalogStores, caller: Caller, start: Place, way: str | None = None
) -> Iterator[Visited]:
    """Every namespace below `start`, parents before children, siblings by name.

    It may be long, so it ends when nobody waits for it any more.
    """
    kv, account = stores.kv, caller.account_id
    levels = [_Level(start.id, tuple(start.path))]
    if way is not None:
        levels = _still_there(stores, account, _resumed(start, way))
    while levels:
        level = levels[-1]
        caller.asker.require_waiting()
        child = level.next_child(kv, account)
        if child is None:
            levels.pop()
            continue
        name, identifier = child
        yield Visited(identifier, level.path, name, _way(levels, identifier))
        levels.append(_Level(identifier, (*level.path, name)))


def walk_namespaces(
    stores: CatalogStores, caller: Caller, start: Place, prefix: str, cursor: PageCursor
) -> Page[bytes]:
    """A page of everything below `start` whose own name starts with `prefix`; framed rows.

    A page ends after `_MOST_VISITED` namespaces however few of them match, so that its cost is
    bounded; the next one goes on from there.
    """
    found: list[Visited] = []
    more = ""
    for number, visited in enumerate(walk(stores, caller, start, cursor.after), start=1):
        if visited.name.startswith(prefix):
            found.append(visited)
        if len(found) > cursor.size:
            more = found[cursor.size - 1].way
            break
        if number == _MOST_VISITED:
            more = visited.way
            break
    wanted = found[: cursor.size]
    contents = _read(stores, caller.account_id, wanted)
    count = fitting([len(content) for content in contents])
    page = [framed(contents[:count])]
    if count < len(wanted):
        return Page(page, cursor.token(wanted[count - 1].way))
    return Page(page, cursor.token(more) if more else "")


def _way(levels: list[_Level], identifier: str) -> str:
    return json.dumps(
        [*([level.parent_id, level.after] for level in levels), [identifier, None]],
        ensure_ascii=False,
    )


def _resumed(start: Place, way: str) -> list[_Level]:
    path = tuple(start.path)
    levels: list[_Level] = []
    try:
        for parent_id, after in json.loads(way):
            levels.append(_Level(_text(parent_id), path, after and _text(after)))
            path = (*path, after)
    except (ValueError, TypeError, RecursionError) as error:
        raise bad_token() from error
    if not levels or levels[0].parent_id != start.id:
        raise bad_token()
    return levels


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError("not text")
    return value


def _still_there(stores: CatalogStores, account: str, levels: list[_Level]) -> list[_Level]:
    """The levels that still lie where they did; below one that is gone there is nothing to show."""
    records = Records(stores, common_pb2.RK_NAMESPACE, Namespace)
    found = records.find_live(account, [level.parent_id for level in levels[1:]])
    for depth, namespace in enumerate(found, start=1):
        above = levels[depth - 1]
        moved = namespace is None or parent_id(namespace) != above.parent_id
        if moved or (namespace and namespace.display_name != above.after):
            return levels[:depth]
    return levels


def _read(stores: CatalogStores, account: str, visited: list[Visited]) -> list[bytes]:
    """What was visited, as answers show it, up to what fits one; nothing for what isn't live."""
    records = Records(stores, common_pb2.RK_NAMESPACE, Namespace)
    found = records.find_contents(account, [namespace.id for namespace in visited])
    return [
        content and content + serialized(Namespace(parents=namespace.parents))
        for namespace, content in zip(visited, found, strict=False)
    ]
