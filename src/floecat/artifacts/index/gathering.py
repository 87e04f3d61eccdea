"""A column's rows as segments give them, put where they belong."""

from collections.abc import Iterable

import numpy as np
import pyarrow as pa

from ai.floedb.floecat.types import types_pb2
from floecat.artifacts.index.bounds import LEARNT, typed_bounds
from floecat.artifacts.types import stored_type
from floecat.types.logical import LogicalType


class GatheredBounds:
    """Rows of one column, by the type that it had when they were learnt."""

    def __init__(self, rows: int) -> None:
        self._rows = rows
        self._batches: dict[bytes, list[pa.RecordBatch]] = {}
        self._places: dict[bytes, list[int]] = {}

    def __bool__(self) -> bool:
        return bool(self._batches)

    def add(
        self,
        logical_type: types_pb2.LogicalType,
        batch: pa.RecordBatch,
        here: Iterable[tuple[int, int]],
    ) -> None:
        """Take some of a segment's rows: by their number there, and where each belongs."""
        files, places = zip(*here, strict=True)
        key = logical_type.SerializeToString(deterministic=True)
        # Taking copies, so that the segment's file isn't kept open for as long as these rows are.
        chosen = batch.select(LEARNT).take(pa.array(files, pa.int64()))
        self._batches.setdefault(key, []).append(chosen)
        self._places.setdefault(key, []).extend(places)

    def typed(self, now: LogicalType) -> pa.StructArray:
        """All of them, typed as the column is now; NULL where nothing came."""
        typed = [
            typed_bounds(
                pa.Table.from_batches(batches),
                stored_type(types_pb2.LogicalType.FromString(key)),
                now,
            )
            for key, batches in self._batches.items()
        ]
        places = np.full(self._rows, -1, np.int64)
        taken = [place for of_type in self._places.values() for place in of_type]
        places[taken] = np.arange(len(taken))
        return pa.concat_arrays(typed).take(pa.array(places, mask=places < 0))
