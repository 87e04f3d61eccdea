"""The hash of a set of files: what a plan promises to cover, and what a capture has covered."""

import hashlib
from typing import Final

import numpy as np

from ai.floedb.floecat.catalog.stats_pb2 import FileIdentity

_DIGEST_BYTES: Final = 32


class CoverageHash:
    """Takes identities in any order and forgets them: 32 bytes are kept of each.

    Equal hashes mean equal sets of identities, each as often as it was added.
    """

    def __init__(self) -> None:
        self._digests = bytearray()

    def __len__(self) -> int:
        return len(self._digests) // _DIGEST_BYTES

    def add(self, identity: FileIdentity) -> None:
        """Add a file."""
        fields = (identity.file_path, str(identity.size_bytes), identity.format_mark)
        digest = hashlib.sha256()
        for field in fields:
            encoded = field.encode()
            # Lengths first, so that no two identities are written alike.
            digest.update(len(encoded).to_bytes(8, "big"))
            digest.update(encoded)
        self._digests += digest.digest()

    def hexdigest(self) -> str:
        """The hash of everything added so far."""
        ordered = np.sort(np.frombuffer(self._digests, dtype=f"S{_DIGEST_BYTES}"))
        return hashlib.sha256(ordered.tobytes()).hexdigest()
