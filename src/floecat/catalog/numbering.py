"""Ids of columns: the format's own where it has them, else numbers given once and never again."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Final, TypeAlias

from ai.floedb.floecat.catalog.snapshot_pb2 import Snapshot
from ai.floedb.floecat.catalog.table_pb2 import ColumnId

ColumnPath: TypeAlias = tuple[str, ...]

_BESIDE: Final = 1 << 30
"""Where our numbers begin when the format numbers some columns itself: it never gets there."""


def numbered(known: Sequence[ColumnId], leaves: Iterable[ColumnId]) -> list[ColumnId]:
    """The leaves of a schema with an id each; what was known and isn't there any more is dropped.

    A path that was dropped and comes back gets a new number, unless the format says which it is.
    What is dropped stands behind the rest, the latest first.
    """
    listed = list(leaves)
    current = {_path(column): column.column_id for column in known if not column.dropped}
    own = {leaf.column_id for leaf in listed}
    highest = _highest(known, listed)
    columns: list[ColumnId] = []
    for leaf in listed:
        ours = current.get(_path(leaf), 0)
        identifier = leaf.column_id or (0 if ours in own else ours)
        if not identifier:
            highest += 1
            identifier = highest
        columns.append(ColumnId(column_id=identifier, path=leaf.path))
    there = {column.column_id for column in columns}
    gone = [
        ColumnId(column_id=column.column_id, path=column.path, dropped=True)
        for column in known
        if column.column_id not in there
    ]
    return [*columns, *gone]


def columns_as_of(snapshot: Snapshot, known: Iterable[ColumnId]) -> list[ColumnId]:
    """The ids that a snapshot's columns have, by path: its own if it has any, else the table's.

    Those of today come before dropped ones, and of these the latest first.
    """
    found: dict[tuple[str, ...], ColumnId] = {}
    for column in snapshot.column_ids or known:
        found.setdefault(tuple(column.path), ColumnId(column_id=column.column_id, path=column.path))
    return list(found.values())


class ColumnHistory:
    """The columns of a table over its schemas, where formats have names only.

    A name means one column for as long as every schema has it. Dropped and added again it means
    another. Schemas that were numbered before have ids already, and keep them.
    """

    def __init__(
        self, known: Iterable[ColumnId], current: Sequence[ColumnId] | None = None
    ) -> None:
        """`current` are the columns of the schema to begin with, if `known` is ahead of it."""
        listed = list(known)
        self.known = listed if current is None else numbered(listed, current)
        """As a table has them: columns of today, and behind them dropped ones, the latest first."""
        self._there = {_path(c): c.column_id for c in self.known if not c.dropped}
        self._dropped = _dropped_before(listed, self._there)

    def after(self, leaves: Iterable[ColumnId]) -> list[ColumnId]:
        """Number the schema that came next."""
        self.known = numbered(self.known, leaves)
        return [column for column in self.known if not column.dropped]

    def before(self, schemas: Sequence[Sequence[ColumnId]]) -> Iterator[list[ColumnId]]:
        """Number schemas that came before the one to begin with, the latest first."""
        told = [{_path(leaf): leaf.column_id for leaf in leaves} for leaves in schemas]
        taken = {number for leaves in told for number in leaves.values()}
        there: Mapping[ColumnPath, int] = self._there
        for at, leaves in enumerate(told):
            there = {
                path: number
                or there.get(path)
                or _numbered_earlier(path, told[at + 1 :])
                or self._latest_dropped(path, taken)
                or self._unknown(path, schemas[at])
                for path, number in leaves.items()
            }
            yield [ColumnId(column_id=number, path=path) for path, number in there.items()]

    def _latest_dropped(self, path: ColumnPath, taken: Collection[int]) -> int:
        """The latest of the columns of this path that were dropped and aren't told of yet, or 0."""
        dropped = self._dropped.get(path, [])
        while dropped:
            number = dropped.pop(0)
            if number not in taken:
                return number
        return 0

    def _unknown(self, path: ColumnPath, leaves: Sequence[ColumnId]) -> int:
        """A number for a column that was dropped before anybody here knew of it."""
        number = _highest(self.known, leaves) + 1
        self.known.append(ColumnId(column_id=number, path=path, dropped=True))
        return number


def _numbered_earlier(path: ColumnPath, schemas: Iterable[Mapping[ColumnPath, int]]) -> int:
    """The number that a path has in the schemas that came before, as long as they have it; or 0."""
    for leaves in schemas:
        if leaves.get(path) != 0:
            return leaves.get(path, 0)
    return 0


def _dropped_before(
    known: Sequence[ColumnId], there: Mapping[ColumnPath, int]
) -> dict[ColumnPath, list[int]]:
    """By path the columns that were dropped before those that are there, the latest first."""
    found: dict[ColumnPath, list[int]] = {}
    for column in known:
        if there.get(_path(column)) == column.column_id:
            found[_path(column)] = []  # what stands in front of it came after it
        elif column.dropped:
            found.setdefault(_path(column), []).append(column.column_id)
    return found


def _path(column: ColumnId) -> ColumnPath:
    return tuple(column.path)


def _highest(known: Iterable[ColumnId], leaves: Sequence[ColumnId]) -> int:
    """What our next number is above."""
    own = _BESIDE if any(leaf.column_id for leaf in leaves) else 0
    return max((own, *(column.column_id for column in known)))
