"""Sets of snapshot ids as bytes: sorted, eight bytes each, the lowest first."""

from collections.abc import Iterable
from typing import Final

import numpy as np

from floecat.errors import DataLossError

_TYPE: Final = np.dtype("<i8")


def encode_ids(ids: Iterable[int]) -> bytes:
    """The bytes of a set."""
    return np.unique(np.fromiter(ids, dtype=_TYPE)).tobytes()


def decode_ids(data: bytes) -> frozenset[int]:
    """The set that the bytes are of."""
    if len(data) % _TYPE.itemsize:
        raise DataLossError("a set of snapshot ids isn't whole")
    return frozenset(np.frombuffer(data, dtype=_TYPE).tolist())
