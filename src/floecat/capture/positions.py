"""PositionDeletes: which rows of which data files a file takes away. No Spark in here."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.types as kinds

from ai.floedb.floecat.execution.capture_pb2 import PlannedFile
from floecat.artifacts.positions import PositionRun
from floecat.capture.columns import WantedColumn
from floecat.capture.failures import CaptureFailure
from floecat.capture.leaves import FileLeaf
from floecat.capture.opening import ALONE, Opening, opened_source
from floecat.capture.parquet.reading import ParquetSource
from floecat.connectors.spi.access import FileAccess
from floecat.types.kinds import Kind
from floecat.types.logical import LogicalType

_FILE_PATH: Final = WantedColumn(
    column_id=2147483546,
    name="file_path",
    logical_type=LogicalType(Kind.STRING),
    field_id=2147483546,
    file_paths=(("file_path",),),
)
_POSITION: Final = WantedColumn(
    column_id=2147483545,
    name="pos",
    logical_type=LogicalType(Kind.INT),
    field_id=2147483545,
    file_paths=(("pos",),),
)
"""The columns, with the ids that Iceberg reserves for them."""
_BATCH_ROWS: Final = 1 << 18
"""Rows that are sorted at once; of each data file among them there is a run."""

Numbers = np.ndarray[Any, np.dtype[np.int64]]


class PositionDeletes:
    """Goes through a file once, a batch of rows at a time, however large it is."""

    def __init__(self, access: FileAccess, planned: PlannedFile, opening: Opening = ALONE) -> None:
        self._access = access
        self._planned = planned
        self._opening = opening
        self.rows = 0
        """That were read so far."""
        self.bytes_read = 0

    def __iter__(self) -> Iterator[list[PositionRun]]:
        """Runs of positions, some at a time. Raises `CaptureFailure`, which says why it can't."""
        with opened_source(self._access, self._planned, self._opening) as source:
            paths, positions = _column(source, _FILE_PATH), _column(source, _POSITION)
            _require_type(paths, _FILE_PATH, is_right=_is_text(paths.arrow_type))
            _require_type(positions, _POSITION, is_right=kinds.is_integer(positions.arrow_type))
            by_dictionary = [paths] if _has_only_dictionaries(source, paths) else []
            for batch in source.side_by_side(
                (paths, positions), _BATCH_ROWS, as_dictionary=by_dictionary
            ):
                self.rows += len(batch[1])
                yield _runs(*batch)
            if self.rows != source.statistics.num_rows:
                raise CaptureFailure(
                    f"it has {self.rows} rows, and {source.statistics.num_rows} by its footer"
                )
            self.bytes_read = source.bytes_read


def _column(source: ParquetSource, wanted: WantedColumn) -> FileLeaf:
    leaves = source.schema.leaves
    # Some writers have ids for the rows that were deleted, and none for these two.
    found = leaves.find(wanted) or leaves.find(replace(wanted, field_id=None))
    if found is None or found.nested or found.repeated:
        raise CaptureFailure(f"it has no column {wanted.name}, as files of position deletes have")
    return found


def _has_only_dictionaries(source: ParquetSource, leaf: FileLeaf) -> bool:
    """Other encodings can't always be read as dictionaries."""
    groups = source.footer.row_groups
    return all(group[leaf.number].only_dictionary for group in groups)


def _require_type(leaf: FileLeaf, wanted: WantedColumn, *, is_right: bool) -> None:
    if not is_right:
        raise CaptureFailure(f"its column {wanted.name} is of the type {leaf.arrow_type}")


def _is_text(kind: pa.DataType) -> bool:
    stored = kind.value_type if kinds.is_dictionary(kind) else kind
    text = (kinds.is_string, kinds.is_large_string, kinds.is_string_view)
    # Writers may leave out that the bytes are text; whether they are is seen when they are read.
    return any(test(stored) for test in (*text, kinds.is_binary, kinds.is_large_binary))


def _runs(paths: pa.Array, positions: pa.Array) -> list[PositionRun]:
    """The positions by data file, ascending, each once."""
    if len(paths) != len(positions):
        raise CaptureFailure("its columns aren't of the same length")
    for values, column in ((paths, _FILE_PATH), (positions, _POSITION)):
        if values.null_count:
            raise CaptureFailure(f"{column.name} is null in {values.null_count} of its rows")
    numbers = positions.cast(pa.int64()).to_numpy()
    if len(numbers) and numbers.min() < 0:
        raise CaptureFailure(f"it names the position {numbers.min()}")
    codes, names = _coded(paths)
    order = np.lexsort((numbers, codes))
    codes, numbers = codes[order], numbers[order]
    is_first = np.ones(len(codes), np.bool_)
    is_first[1:] = (np.diff(codes) != 0) | (np.diff(numbers) != 0)
    codes, numbers = codes[is_first], numbers[is_first]
    ends = np.flatnonzero(np.diff(codes)) + 1
    found = [part for part in np.split(numbers, ends) if len(part)]
    firsts = codes[np.concatenate([[0], ends])] if found else codes
    of_each = names.take(pa.array(firsts)).cast(pa.large_string()).to_pylist()
    return [PositionRun(*run) for run in zip(of_each, found, strict=True)]


def _coded(paths: pa.Array) -> tuple[Numbers, pa.Array]:
    """Paths as numbers, and what each number means."""
    if not kinds.is_dictionary(paths.type):
        paths = paths.cast(pa.large_string()).dictionary_encode()
    return paths.indices.to_numpy(), paths.dictionary
