"""A store on which somebody else is at work: between two reads, and right before a commit."""

from collections.abc import Callable, Sequence
from random import Random
from typing import Final

from floecat.storage.kv.delegating import DelegatingKeyValueStore
from floecat.storage.kv.port import Key, KeyValueStore, Operation, Record

_CHANCE: Final = 0.03


class Meddling(DelegatingKeyValueStore):
    """Lets another have a go now and then. It doesn't meddle with itself."""

    def __init__(
        self,
        kv: KeyValueStore,
        random: Random,
        meddle: Callable[[], None],
        *,
        torn: bool = True,
    ) -> None:
        """Whether somebody may have a go between two records that are read together, too."""
        super().__init__(kv)
        self._torn = torn
        self._random = random
        self._meddle = meddle
        self._resting = True
        self.has_meddled = False

    def begin(self) -> None:
        """A new step begins."""
        self._resting = False
        self.has_meddled = False

    def rest(self) -> None:
        """Not during this step."""
        self._resting = True

    def get(self, key: Key) -> Record | None:
        self._maybe()
        return self._kv.get(key)

    def get_many(self, keys: Sequence[Key]) -> Sequence[Record | None]:
        """Each at its own instant."""
        if self._torn:
            return [self.get(key) for key in keys]
        self._maybe()
        return self._kv.get_many(keys)

    def scan(
        self,
        partition: str,
        prefix: str = "",
        *,
        after: str | None = None,
        limit: int,
        reverse: bool = False,
    ) -> Sequence[Record]:
        found = self._kv.scan(partition, prefix, after=after, limit=limit, reverse=reverse)
        self._maybe()
        return found

    def commit(self, operations: Sequence[Operation]) -> None:
        self._maybe()
        self._kv.commit(operations)

    def _maybe(self) -> None:
        if self._resting or self._random.random() >= _CHANCE:
            return
        self._resting = True
        self.has_meddled = True
        try:
            self._meddle()
        finally:
            self._resting = False
