"""How many of a table's files keep sketches of their own: as many as its budget allows."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from ai.floedb.floecat.execution.capture_pb2 import FileGroup, PlannedFile
from floecat.capture.columns import FilePolicy

_FULL: Final = 40_000
"""What the sketches of one column take up at most, about: theta, quantiles and frequent values."""
_LEAST: Final = 200
_PER_ROW: Final = 40
"""And of a column of few rows: some bytes anyway, and more for each of them."""


@dataclass(frozen=True, slots=True)
class SketchBudget:
    """What is left for files that aren't read yet. None: as much as they take."""

    left: int | None
    policy: FilePolicy

    def less(self, taken: int) -> "SketchBudget":
        """What is left of it when some is taken."""
        return self if self.left is None else SketchBudget(self.left - taken, self.policy)

    def within(self, groups: Iterable[FileGroup]) -> Iterator[FileGroup]:
        """The groups; those that would go beyond it keep sketches of all files together only."""
        left = self.left
        for group in groups:
            if left is not None:
                needed = sum(map(self._needed, group.files))
                group.sketches_together = needed > left
                left -= 0 if group.sketches_together else needed
            yield group

    def _needed(self, planned: PlannedFile) -> int:
        if planned.HasField("told"):
            return 0  # it isn't opened
        columns = self.policy.columns_of(planned)
        sketched = sum(column.wants_data for column in columns)
        if not planned.file.HasField("record_count"):
            return sketched * _FULL
        return sketched * min(_FULL, _LEAST + _PER_ROW * planned.file.record_count)
