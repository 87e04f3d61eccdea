"""Columns that a capture wants, where files have them, and what is hashed of them."""

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Final

from ai.floedb.floecat.execution.capture_pb2 import PlannedFile, SamplingPolicy
from ai.floedb.floecat.execution.stored_pb2 import ColumnCoverage
from floecat.connectors.spi.columns import ColumnPath
from floecat.types.kinds import Kind
from floecat.types.logical import LogicalType
from floecat.types.messages import to_message

_NARROW: Final = frozenset({"int", "integer", "short", "smallint", "byte", "tinyint"})
_BYTES: Final = frozenset({Kind.STRING, Kind.BINARY, Kind.UUID})


@dataclass(frozen=True, slots=True, kw_only=True)
class WantedColumn:
    """A column, and what is wanted of it besides counts and bounds."""

    column_id: int
    name: str
    logical_type: LogicalType
    source_type: str = ""
    """As the format spells it: it says how wide an INT is."""
    field_id: int | None = None
    """The id that files have it under, if they have ids."""
    file_paths: tuple[ColumnPath, ...] = ()
    """The names that files may have it under, if they don't; the first that is there counts."""
    has_default: bool = False
    """Files without it don't mean NULL."""
    repeated: bool = False
    """Inside a list or map: files without it don't say how many values they lack."""
    partition_names: tuple[str, ...] = ()
    """Partition fields that have its value, where files leave it out."""
    ndv: bool = False
    quantiles: bool = False
    frequent_items: bool = False
    page_index: bool = False

    @property
    def wants_data(self) -> bool:
        """Whether footers can't be enough."""
        return self.ndv or self.quantiles or self.frequent_items

    @property
    def is_narrow(self) -> bool:
        """Whether an INT has four bytes."""
        return self.source_type.lower() in _NARROW

    @property
    def hashed_unit(self) -> str:
        """The unit of a time's count."""
        return "ns" if self.source_type.lower().endswith("_ns") else "us"

    @property
    def hashed_as(self) -> str:
        """What is hashed of a value; sketches of columns that differ in it don't go together."""
        match self.logical_type.kind:
            case Kind.INT:
                return "int-4" if self.is_narrow else "int-8"
            case Kind.DECIMAL:
                return f"decimal({self.logical_type.scale or 0})"
            case Kind.TIME | Kind.TIMESTAMP | Kind.TIMESTAMPTZ:
                return f"time-{self.hashed_unit}"
            case kind if kind in _BYTES:
                return "bytes"
            case Kind.BOOLEAN | Kind.DATE | Kind.FLOAT | Kind.DOUBLE:
                return self.logical_type.kind.name.lower()
            case _:
                return ""

    @property
    def coverage(self) -> ColumnCoverage:
        """What is known of the column once it was read."""
        return ColumnCoverage(
            column_id=self.column_id,
            name=self.name,
            logical_type=to_message(self.logical_type),
            hashed_as=self.hashed_as if self.ndv else "",
            ndv=self.ndv,
            quantiles=self.quantiles,
            frequent_items=self.frequent_items,
            page_index=self.page_index,
            from_file=True,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class FilePolicy:
    """What is wanted of every file."""

    columns: tuple[WantedColumn, ...]
    others: tuple[WantedColumn, ...] = ()
    """Columns that aren't wanted. A plan may name them still, when their pages are out of date."""
    sampling: SamplingPolicy | None = None

    @property
    def wants_data(self) -> bool:
        """Whether footers can't be enough."""
        return any(column.wants_data for column in self.columns)

    def columns_of(self, planned: PlannedFile) -> tuple[WantedColumn, ...]:
        """What is to be read of a file: everything that is wanted, or what its plan names of it."""
        if not planned.column_ids:
            return self.columns
        named = set(planned.column_ids)
        found = tuple(c for c in (*self.columns, *self.others) if c.column_id in named)
        # A sidecar that is taken over mustn't lack what is named: that is why it was named.
        return tuple(map(_indexed, found)) if planned.sidecar.artifact.uri else found


@lru_cache(maxsize=4096)
def _indexed(column: WantedColumn) -> WantedColumn:
    """Remembered: equal columns of many files are to be one object, which is found quickly."""
    return column if column.page_index else replace(column, page_index=True)
