"""Positions: the rows that files of position deletes take away, kept so that each is read once.

An Arrow file with a row per *run*: positions of one data file, ascending, each once. A delete file
is some of its batches. Its rows should be sorted by data file and position, and then the runs of a
data file lie one behind the other, and their counts add up without any position being looked at.
Whatever the rows are, the positions of a data file are those of all its runs together.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Final, NamedTuple

import numpy as np
import pyarrow as pa

from ai.floedb.floecat.common.common_pb2 import BlobReference
from ai.floedb.floecat.execution.stored_pb2 import SegmentDeleteFile
from floecat.artifacts.arrow import ArrowWriter, arrow_writer, open_arrow
from floecat.artifacts.payloads import blob_ref
from floecat.errors import DataLossError
from floecat.storage.blobs.port import BlobRef, BlobStore

FORMAT: Final = "floecat-positions"
FORMAT_VERSION: Final = 1
_CODEC: Final = "zstd"
_STEP: Final = np.dtype("<i8")

Positions = np.ndarray[Any, np.dtype[np.int64]]

SCHEMA: Final = pa.schema(
    [
        pa.field("path", pa.large_string(), nullable=False),
        pa.field("first", pa.int64(), nullable=False),
        pa.field("last", pa.int64(), nullable=False),
        pa.field("count", pa.int64(), nullable=False),
        pa.field("steps", pa.large_binary(), nullable=False),
    ],
    metadata={"floecat.format": FORMAT, "floecat.format-version": str(FORMAT_VERSION)},
)
"""`steps` is how far each position is from the one before it, compressed; empty if all are next to
each other."""


class PositionRun(NamedTuple):
    """Positions of one data file, ascending, each once; at least one."""

    path: str
    """As the delete file writes it."""
    positions: Positions


class PositionsWriter:
    """Writes the positions of some delete files, one file after another."""

    def __init__(self, writer: ArrowWriter) -> None:
        self._writer = writer

    @property
    def batches(self) -> int:
        """How many there are so far: where the next delete file begins."""
        return self._writer.batches

    @property
    def ref(self) -> BlobRef:
        """What was written; known once the context was left."""
        return self._writer.ref

    def write(self, runs: Sequence[PositionRun]) -> None:
        """Append some runs, as a batch."""
        columns = (
            [run.path for run in runs],
            [int(run.positions[0]) for run in runs],
            [int(run.positions[-1]) for run in runs],
            [len(run.positions) for run in runs],
            [_steps(run.positions) for run in runs],
        )
        arrays = [pa.array(values, part.type) for values, part in zip(columns, SCHEMA, strict=True)]
        self._writer.write(pa.RecordBatch.from_arrays(arrays, schema=SCHEMA))


@contextmanager
def positions_writer(blobs: BlobStore, name: str) -> Iterator[PositionsWriter]:
    """Write positions into a blob, a batch at a time."""
    with arrow_writer(blobs, name, SCHEMA) as writer:
        yield PositionsWriter(writer)


class RunBatch(NamedTuple):
    """Some runs of a delete file."""

    number: int
    """Of the batch."""
    runs: pa.RecordBatch


class PositionsFile:
    """Positions, opened for reading."""

    def __init__(self, blobs: BlobStore, reference: BlobReference) -> None:
        self._uri = reference.uri
        self._reader = open_arrow(blobs, blob_ref(reference))
        if not self._reader.schema.equals(SCHEMA, check_metadata=True):
            raise DataLossError(
                f"{self._uri} has no positions of version {FORMAT_VERSION}, which is what is read "
                "here"
            )

    def runs(self, file: SegmentDeleteFile) -> Iterator[RunBatch]:
        """The runs of a delete file."""
        end = file.first_batch + file.batches
        if not 0 <= file.first_batch <= end <= self._reader.num_record_batches:
            raise DataLossError(f"{self._uri} has no batches {file.first_batch} to {end}")
        for number in range(file.first_batch, end):
            yield RunBatch(number, self._reader.get_batch(number))

    def positions(self, batch: int, row: int) -> Positions:
        """The positions of a run."""
        [run] = self._reader.get_batch(batch).slice(row, 1).to_pylist()
        positions = np.empty(run["count"], np.int64)
        positions[0] = run["first"]
        positions[1:] = _unpacked(run["steps"], run["count"] - 1)
        np.cumsum(positions, out=positions)
        if positions[-1] != run["last"]:
            raise DataLossError(f"{self._uri} has a run that doesn't end where it should")
        return positions


def _steps(positions: Positions) -> bytes:
    if positions[-1] - positions[0] == len(positions) - 1:
        return b""
    steps = np.diff(positions).astype(_STEP, copy=False)
    return bytes(pa.compress(steps.tobytes(), codec=_CODEC, asbytes=True))


def _unpacked(content: bytes, count: int) -> "Positions | int":
    if not content:
        return 1
    try:
        steps = pa.decompress(content, count * _STEP.itemsize, codec=_CODEC, asbytes=True)
    except (pa.ArrowException, OSError) as error:
        raise DataLossError(f"positions can't be read: {error}") from error
    return np.frombuffer(steps, _STEP)
