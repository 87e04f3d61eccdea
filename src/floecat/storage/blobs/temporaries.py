"""Files that aren't blobs yet. Their writers hold locks on them: what is unlocked is left over."""

import fcntl
import os
from contextlib import suppress
from pathlib import Path
from uuid import uuid4


class Temporary:
    """A file that only its writer sees, until it is linked to its name."""

    def __init__(self, folder: Path) -> None:
        while True:
            self.path = folder / uuid4().hex
            self._file = self.path.open("xb")
            fcntl.flock(self._file, fcntl.LOCK_EX)
            if os.fstat(self._file.fileno()).st_nlink:
                return
            self._file.close()  # swept between being made and being locked

    def write(self, data: memoryview) -> None:
        """Append."""
        self._file.write(data)

    def flush(self) -> None:
        """Let others who open the file see everything written."""
        self._file.flush()

    def sync(self) -> None:
        """Bring everything written to the disk."""
        self._file.flush()
        os.fsync(self._file.fileno())

    def discard(self) -> None:
        """Remove the temporary name; the blob's own, if it has one, stays."""
        self.path.unlink(missing_ok=True)
        with suppress(OSError):  # closing flushes, and the disk may be full
            self._file.close()


def sweep(folder: Path) -> int:
    """Remove what killed writers left; how many files that were."""
    removed = 0
    for path in folder.iterdir():
        with suppress(FileNotFoundError), path.open("rb") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                continue  # being written
            path.unlink()
            removed += 1
    return removed
