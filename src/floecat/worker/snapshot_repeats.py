"""Data files that a snapshot lists more than once, which no sound snapshot does."""

import hashlib
from collections.abc import Iterable
from typing import Final

import numpy as np

from floecat.connectors.spi.errors import BrokenTableError

_HASH_BYTES: Final = 8


class ListedPaths:
    """The paths that were listed so far: eight bytes are kept of each."""

    def __init__(self) -> None:
        self._hashes = bytearray()

    def add(self, path: str) -> None:
        """Note a path."""
        self._hashes += _hash(path)

    def require_once(self, paths: Iterable[str]) -> None:
        """Refuse a snapshot that lists a path again; `paths` are those that were added.

        Readers read such a file as often as it is listed. What is known of files is kept by path,
        so that counting its rows once would be wrong, and counting them twice isn't possible.
        """
        ordered = np.sort(np.frombuffer(self._hashes, "<u8"))
        suspects = set(ordered[1:][ordered[1:] == ordered[:-1]].tolist())
        if not suspects:
            return
        seen: set[str] = set()
        for path in paths:
            # Different paths may have one hash, so those that share it are compared themselves.
            if int.from_bytes(_hash(path), "little") not in suspects:
                continue
            if path in seen:
                raise BrokenTableError(
                    f"the snapshot lists the data file {path} more than once, so readers see its "
                    "rows more than once: take the file out of the table, add it once again, and "
                    "capture the snapshot that this makes"
                )
            seen.add(path)


def _hash(path: str) -> bytes:
    return hashlib.blake2b(path.encode(), digest_size=_HASH_BYTES).digest()
