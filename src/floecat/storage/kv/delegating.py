"""A store that is another one, for those that change a single thing about it."""

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager

from floecat.storage.kv.port import Key, KeyValueStore, Operation, Record, ServerTime


class DelegatingKeyValueStore:
    """Does everything as the store behind it does."""

    def __init__(self, kv: KeyValueStore) -> None:
        self._kv = kv

    def get(self, key: Key) -> Record | None:
        return self._kv.get(key)

    def get_many(self, keys: Sequence[Key]) -> Sequence[Record | None]:
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
        return self._kv.scan(partition, prefix, after=after, limit=limit, reverse=reverse)

    def glance(self) -> AbstractContextManager[None]:
        return self._kv.glance()

    def commit(self, operations: Sequence[Operation]) -> None:
        self._kv.commit(operations)

    def dump(self, after: Key | None = None) -> Iterator[Record]:
        return self._kv.dump(after)

    def server_time(self) -> ServerTime | None:
        return self._kv.server_time()

    def sweep(self, limit: int) -> int:
        return self._kv.sweep(limit)

    def close(self) -> None:
        self._kv.close()
