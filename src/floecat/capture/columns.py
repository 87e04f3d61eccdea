"""Columns that a capture wants, and where files have them."""

from dataclasses import dataclass

from ai.floedb.floecat.execution.stored_pb2 import ColumnCoverage
from floecat.connectors.spi.columns import ColumnPath
from floecat.types.logical import LogicalType
from floecat.types.messages import to_message


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
    ndv: bool = False
    quantiles: bool = False
    frequent_items: bool = False
    page_index: bool = False

    @property
    def wants_data(self) -> bool:
        """Whether footers can't be enough."""
        return self.ndv or self.quantiles or self.frequent_items

    def coverage(self, hashed_as: str) -> ColumnCoverage:
        """What is known of the column once it was read."""
        return ColumnCoverage(
            column_id=self.column_id,
            name=self.name,
            logical_type=to_message(self.logical_type),
            hashed_as=hashed_as if self.ndv else "",
            ndv=self.ndv,
            quantiles=self.quantiles,
            frequent_items=self.frequent_items,
            page_index=self.page_index,
        )
