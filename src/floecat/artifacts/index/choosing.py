"""Which segment speaks of a column, where several know a file."""

from collections.abc import Mapping, Sequence
from functools import lru_cache

from ai.floedb.floecat.execution.stored_pb2 import ColumnCoverage, CoverageShape


class Choices:
    """Chooses by what was learnt of a file, as the shapes of one part or snapshot say."""

    def __init__(self, shapes: Sequence[CoverageShape]) -> None:
        self._shapes = shapes
        self.of = lru_cache(maxsize=4096)(self._of)

    def _of(self, numbers: tuple[int, ...]) -> Mapping[int, int]:
        """Per column, which of a file's segments it is; they are numbered from the oldest on."""
        best: dict[int, tuple[int, tuple[bool, int], ColumnCoverage]] = {}
        for ordinal, number in enumerate(numbers):
            shape = self._shapes[number]
            for column in shape.columns:
                detail = _detail(shape, column)
                held = best.get(column.column_id)
                # Newer ones win, and those of a newer type always: they were read for a reason.
                if held is None or detail >= held[1] or _has_another_type(column, held[2]):
                    best[column.column_id] = (ordinal, detail, column)
        return {column_id: ordinal for column_id, (ordinal, _, _) in best.items()}


def _detail(shape: CoverageShape, column: ColumnCoverage) -> tuple[bool, int]:
    return (
        not shape.HasField("sampling"),
        sum((column.ndv, column.quantiles, column.frequent_items)),
    )


def _has_another_type(newer: ColumnCoverage, held: ColumnCoverage) -> bool:
    """Whether the type is another now, or hashed as another; what wasn't hashed doesn't say."""
    if newer.logical_type != held.logical_type:
        return True
    return bool(newer.hashed_as) and newer.hashed_as != held.hashed_as
