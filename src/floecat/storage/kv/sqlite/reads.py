"""What was read, kept for as long as nobody has changed it.

Whether anybody has is asked of SQLite at every read: `PRAGMA data_version` moves on whenever
another connection commits, whichever process it belongs to. So a kept record is given out only
while the file is the one it was read from, and a read here promises what a read of the file does.

Our own commits move it on as well, but say what they touched, so that the rest can stay. The
writer's own `data_version` then tells whether somebody else's commit came between: it doesn't move
on for commits of the writer itself.

Within a glance it is asked once for all that is found here, and anew whenever something had to be
read from the file: what was kept is then older than what was read.

Records that expire aren't kept: time changes what a read of them gives, and no version tells.
"""

import threading
from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

import apsw

from floecat.storage.kv.port import Check, Key, Operation, Record
from floecat.storage.kv.sqlite.connections import Connections

_ENTRY_BYTES: Final = 400
"""About what Python's own objects around a record take."""

_NEVER: Final = -1
"""No version of any file."""


class ScanBounds(NamedTuple):
    """A scan, but for its partition."""

    prefix: str
    after: str | None
    limit: int
    reverse: bool


class _Here(threading.local):
    """What a thread knows in its glance."""

    glancing = False
    version = _NEVER


class KeptReads:
    """Records and scans as of one version of the file. Any thread may call any method."""

    def __init__(self, connections: Connections, limit_bytes: int) -> None:
        self._connections = connections
        self._limit = limit_bytes
        self._changing = threading.Lock()
        self._here = _Here()
        self._version = _NEVER
        self._writer_version = _NEVER
        self._bytes = 0
        self._records: dict[Key, Record] = {}
        self._scans: dict[str, dict[ScanBounds, Sequence[Record]]] = {}

    def __enter__(self) -> None:
        """Begin a glance on this thread."""
        self._here.version = _NEVER
        self._here.glancing = True

    def __exit__(self, *_: object) -> None:
        """End it."""
        self._here.version = _NEVER
        self._here.glancing = False

    def find_glanced(self, key: Key) -> Record | None:
        """A record that was kept of the version which this thread's glance is of."""
        of_glance = self._here.version == self._version != _NEVER
        return self._records.get(key) if of_glance else None

    def version(self) -> int:
        """The version of the file now, or at an earlier moment of this thread's glance."""
        here = self._here
        if here.version == self._version != _NEVER:
            return here.version
        seen = self._ask()
        if here.glancing:
            here.version = seen
        return seen

    def reading(self) -> None:
        """Something is being read from the file, so what is kept may be older from now on."""
        self._here.version = _NEVER

    def _ask(self) -> int:
        """The version of the file now. What was kept of an older one is forgotten.

        While a commit of ours is being finished it isn't: then nothing is found and nothing kept.
        """
        seen = self._connections.data_version()
        if seen != self._version:
            with self._connections.between_commits() as quiet:
                if quiet:
                    seen = self._connections.data_version()
                    if seen != self._version:
                        self._forget(seen)
        return seen

    def find(self, version: int, keys: Sequence[Key]) -> list[Record | None]:
        """For every key its record, if it was kept of this version."""
        # Without the lock: commits drop what they touched before they move the version on.
        if version != self._version:
            return [None] * len(keys)
        return list(map(self._records.get, keys))

    def find_scan(self, version: int, partition: str, bounds: ScanBounds) -> Sequence[Record]:
        """What a scan gave at this version; nothing if it wasn't kept."""
        if version != self._version:
            return ()
        scans = self._scans.get(partition)
        return scans.get(bounds, ()) if scans else ()

    def keep(self, version: int, records: Sequence[Record]) -> None:
        """Keep records that were read after this was the version, if it still is."""
        lasting = [record for record in records if record.expires_at is None]
        if lasting and self._is_still(version):
            with self._changing:
                if version == self._version and self._make_room(lasting):
                    self._records.update((record.key, record) for record in lasting)

    def keep_scan(
        self, version: int, partition: str, bounds: ScanBounds, records: Sequence[Record]
    ) -> None:
        """Keep what a scan gave after this was the version, if it still is."""
        lasting = all(record.expires_at is None for record in records)
        if records and lasting and self._is_still(version):
            with self._changing:
                if version == self._version and self._make_room(records, _bounds_size(bounds)):
                    self._scans.setdefault(partition, {})[bounds] = records

    def committed(self, writer: apsw.Connection, operations: Iterable[Operation]) -> None:
        """Follow a commit of ours, called before the next one can begin."""
        try:
            version = self._connections.data_version()
            writer_version = writer.pragma("data_version")
        except apsw.Error:
            # The commit has happened, whatever this is; the next read finds the versions apart.
            version = writer_version = _NEVER
        with self._changing:
            if writer_version != self._writer_version:
                self._writer_version = writer_version
                self._clear()
            for operation in operations:
                self._drop(operation)
            self._version = version

    def _is_still(self, version: int) -> bool:
        return version == self._version and version == self._connections.data_version()

    def _make_room(self, records: Sequence[Record], beside: int = 0) -> bool:
        """Whether there is room for records now, and for what they are kept under."""
        size = _size(records) + beside
        if self._bytes + size > self._limit:
            self._clear()
        self._bytes += size if size <= self._limit else 0
        return size <= self._limit

    def _drop(self, operation: Operation) -> None:
        if isinstance(operation, Check):
            return
        record = self._records.pop(operation.key, None)
        self._bytes -= _size([record]) if record else 0
        for bounds, records in self._scans.pop(operation.key.partition, {}).items():
            self._bytes -= _size(records) + _bounds_size(bounds)

    def _forget(self, version: int) -> None:
        with self._changing:
            self._clear()
            self._version = version

    def _clear(self) -> None:
        self._records.clear()
        self._scans.clear()
        self._bytes = 0


def _bounds_size(bounds: ScanBounds) -> int:
    return _ENTRY_BYTES + sum(4 * len(part) for part in bounds if isinstance(part, str))


def _size(records: Sequence[Record]) -> int:
    return sum(
        len(r.value) + len(r.key.partition) + len(r.key.sort) + _ENTRY_BYTES for r in records
    )
