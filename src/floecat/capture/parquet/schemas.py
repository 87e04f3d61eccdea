"""FileSchema: the leaves of a file and how each is stored.

Thousands of files of a table have the same few schemas, so each is worked out once.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, NamedTuple

import pyarrow.parquet as pq

from floecat.capture.leaves import FileLeaves

_REMEMBERED: Final = 64


class StoredLeaf(NamedTuple):
    """How a leaf's values are stored, in parquet's own words."""

    physical_type: str
    annotation: str
    """The logical type, as JSON."""
    path: str


@dataclass(frozen=True, slots=True)
class FileSchema:
    """The schema of a file."""

    leaves: FileLeaves
    stored: tuple[StoredLeaf, ...]
    """In the order of the leaves."""

    @classmethod
    def of(cls, file: pq.ParquetFile) -> "FileSchema":
        """As pyarrow understands it."""
        schema = file.schema
        columns = (schema.column(number) for number in range(len(schema)))
        stored = (
            StoredLeaf(column.physical_type, column.logical_type.to_json(), column.path)
            for column in columns
        )
        return cls(FileLeaves(file.schema_arrow), tuple(stored))


class KnownSchemas:
    """Schemas by the bytes they were written as.

    Those are read here and understood by pyarrow. Should a file ever manage to mean something else
    to each, it deceives those who share this; so no two tables do.
    """

    def __init__(self) -> None:
        self._known: dict[bytes, FileSchema] = {}

    def of(self, written: bytes, opened: Callable[[], pq.ParquetFile]) -> FileSchema:
        """The schema that some bytes stand for. The file is opened if they are new."""
        found = self._known.get(written)
        if found is None:
            found = FileSchema.of(opened())
            if len(self._known) >= _REMEMBERED:
                self._known.clear()
            self._known[written] = found
        return found
