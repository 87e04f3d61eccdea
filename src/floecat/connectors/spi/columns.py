"""Columns as an upstream declares them, and which of them somebody asked for."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from floecat.connectors.spi.errors import ConnectorError, UpstreamProblem
from floecat.types.logical import LogicalType

ColumnPath: TypeAlias = tuple[str, ...]
"""Names from the top-level column to the leaf; `element`, `key` and `value` inside lists, maps."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceColumn:
    """A leaf of a schema: what can have statistics."""

    path: ColumnPath
    logical_type: LogicalType
    source_id: int | None = None
    """The format's own id. Without one the catalog numbers the path."""
    required: bool = False
    source_type: str = ""
    """As the format spells it."""
    file_paths: tuple[ColumnPath, ...] = ()
    """The names that data files without ids may have it under; empty means its own path."""
    has_default: bool = False
    """Whether it reads as something else than NULL from files that don't have it."""
    repeated: bool = False
    """Inside a list or map: a row may have any number of its values."""
    partition_names: tuple[str, ...] = ()
    """Partition fields that are the column itself: files may leave it out, and say it there."""

    @property
    def name(self) -> str:
        """The path as people write it."""
        return ".".join(self.path)


@dataclass(frozen=True, slots=True)
class NumberedColumn:
    """A column with the id that statistics are kept under."""

    column_id: int
    column: SourceColumn


@dataclass(frozen=True, slots=True)
class ColumnScope:
    """Which columns are wanted, and the ids of those that the format doesn't number.

    A selector is `#<column id>`, a name, or a path (`address.city`), which also stands for
    everything below it. Selectors are hints: what matches nothing selects nothing.
    """

    selectors: tuple[str, ...] = ()
    """None means every column."""
    numbers: Mapping[ColumnPath, int] = field(default_factory=dict)
    """Ids the catalog gave to paths."""

    def selected(self, columns: Iterable[SourceColumn]) -> list[NumberedColumn]:
        """The wanted columns that have an id, in the schema's order."""
        wanted = _Selectors.parse(self.selectors)
        return [column for column in self.numbered(columns) if wanted.match(column)]

    def numbered(self, columns: Iterable[SourceColumn]) -> list[NumberedColumn]:
        """All columns that have an id, wanted or not, in the schema's order."""
        found = ((self._id(column), column) for column in columns)
        return [NumberedColumn(number, column) for number, column in found if number is not None]

    def unnumbered(self, columns: Iterable[SourceColumn]) -> list[ColumnPath]:
        """Paths that neither the format nor the catalog has numbered yet."""
        return [column.path for column in columns if self._id(column) is None]

    def _id(self, column: SourceColumn) -> int | None:
        return self.numbers.get(column.path) if column.source_id is None else column.source_id


@dataclass(frozen=True, slots=True)
class _Selectors:
    everything: bool
    ids: frozenset[int]
    names: frozenset[str]

    @classmethod
    def parse(cls, selectors: Sequence[str]) -> "_Selectors":
        ids = frozenset(_id_of(text) for text in selectors if text.startswith("#"))
        names = frozenset(text for text in selectors if not text.startswith("#"))
        return cls(not selectors, ids, names)

    def match(self, column: NumberedColumn) -> bool:
        if self.everything or column.column_id in self.ids:
            return True
        path = column.column.path
        return any(".".join(path[:depth]) in self.names for depth in range(1, len(path) + 1))


def _id_of(selector: str) -> int:
    if not selector[1:].isdecimal():
        raise ConnectorError(
            f"{selector!r} isn't a column id: write # and a number, or the column's name",
            UpstreamProblem.BAD_SPEC,
        )
    return int(selector[1:])
