"""Bytes on their way to S3: kept while they are few, streamed in parts when they get many."""

from typing import TYPE_CHECKING, Final
from uuid import uuid4

import obstore
from obstore.store import S3Store

from floecat.storage.blobs.s3.errors import translated

if TYPE_CHECKING:
    from obstore import WritableFile

TEMPORARY: Final = ".tmp/"

_PART_BYTES: Final = 8 * 1024 * 1024
_PARTS_AT_ONCE: Final = 4


class Upload:
    """Holds at most a few parts in memory, however much is written.

    S3 can refuse to overwrite a whole object, but obstore's streaming writer can't ask for that.
    So what is streamed goes under a temporary name and is copied, which can.
    """

    def __init__(self, store: S3Store, name: str) -> None:
        self._store = store
        self._name = name
        self._temporary = f"{TEMPORARY}{uuid4().hex}"
        self._kept = bytearray()
        self._streaming: WritableFile | None = None

    def write(self, data: memoryview) -> None:
        """Append."""
        with translated(f"the blob {self._name!r}"):
            if self._streaming is not None:
                self._streaming.write(data)
                return
            self._kept += data
            if len(self._kept) > _PART_BYTES:
                self._streaming = obstore.open_writer(
                    self._store,
                    self._temporary,
                    buffer_size=_PART_BYTES,
                    max_concurrency=_PARTS_AT_ONCE,
                )
                self._streaming.write(bytes(self._kept))
                self._kept.clear()

    def create(self) -> None:
        """Give what was written its name; raises obstore's error if the name is taken."""
        if self._streaming is None:
            obstore.put(self._store, self._name, bytes(self._kept), mode="create")
            return
        self._streaming.close()
        obstore.copy(self._store, self._temporary, self._name, overwrite=False)

    def discard(self) -> None:
        """Remove what lies under the temporary name."""
        if self._streaming is None:
            return
        if not self._streaming.closed():
            self._streaming.close()  # there is no way to abandon the parts but to finish
        obstore.delete(self._store, self._temporary)
