"""One of several processes does something: whoever holds the row, until it stops renewing it."""

from datetime import timedelta
from uuid import uuid4

from floecat.clock import Clock
from floecat.errors import ConflictError
from floecat.storage.kv.port import ABSENT, Delete, Key, KeyValueStore, Put


class Ownership:
    """A row that expires, and the process that holds it."""

    def __init__(self, kv: KeyValueStore, row: Key, span: timedelta, clock: Clock) -> None:
        self._kv = kv
        self._row = row
        self._span = span
        self._clock = clock
        self._name = uuid4().hex.encode()

    def hold(self) -> bool:
        """Take the row if it is free, keep it if it is ours; whether we have it."""
        record = self._kv.get(self._row)
        if record is not None and record.value != self._name:
            return False
        expected = ABSENT if record is None else record.version
        try:
            self._kv.commit([Put(self._row, self._name, expected, self._clock() + self._span)])
        except ConflictError:
            return False
        return True

    def release(self) -> None:
        """Let others have it at once."""
        record = self._kv.get(self._row)
        if record is not None and record.value == self._name:
            try:
                self._kv.commit([Delete(self._row, record.version)])
            except ConflictError:
                return  # it was taken over already
