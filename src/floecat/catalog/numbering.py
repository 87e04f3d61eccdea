"""Ids of columns: the format's own where it has them, else numbers given once and never again."""

from collections.abc import Iterable, Sequence

from ai.floedb.floecat.catalog.table_pb2 import ColumnId


def numbered(known: Sequence[ColumnId], leaves: Iterable[ColumnId]) -> list[ColumnId]:
    """The leaves of a schema with an id each; what was known and isn't there any more is dropped.

    A path that was dropped and comes back gets a new number, unless the format says which it is.
    """
    current = {tuple(column.path): column.column_id for column in known if not column.dropped}
    highest = max((column.column_id for column in known), default=0)
    columns: list[ColumnId] = []
    for leaf in leaves:
        identifier = leaf.column_id or current.get(tuple(leaf.path), 0)
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
