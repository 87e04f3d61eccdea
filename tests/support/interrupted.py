"""A store on which somebody else acts between a mutation's reads and its commit."""

from collections.abc import Callable, Sequence
from random import Random

from tests.support.meddling import Meddling

from floecat.storage.kv.port import KeyValueStore, Operation


class InterruptedStore(Meddling):
    """Acts right before the next commit, once."""

    def __init__(self, kv: KeyValueStore) -> None:
        super().__init__(kv, Random(0), lambda: None)
        self._act: Callable[[], object] | None = None

    def before_commit(self, act: Callable[[], object]) -> None:
        """What somebody else does before the next commit."""
        self._act = act

    def commit(self, operations: Sequence[Operation]) -> None:
        act, self._act = self._act, None
        if act is not None:
            act()
        super().commit(operations)
