"""A store on which nothing can be changed once a lease is over.

What a worker's result changes in the catalog is committed on such a store: every commit expects the
lease's row, so a worker that was paused past its lease changes nothing, whatever its clock says.
"""

from collections.abc import Callable, Sequence
from typing import Final

from typing_extensions import override

from floecat.errors import ConflictError
from floecat.storage.kv.delegating import DelegatingKeyValueStore
from floecat.storage.kv.port import Check, KeyValueStore, Operation

Fence = Callable[[], Sequence[Operation]]
"""What a commit has to expect so that the lease is live; raises LeaseLostError if it isn't."""

_RENEWED: Final = 8
"""How often a commit is tried again because the lease was renewed meanwhile."""


class FencedKeyValueStore(DelegatingKeyValueStore):
    """The store of one lease. Reading is as ever."""

    def __init__(self, kv: KeyValueStore, fence: Fence) -> None:
        super().__init__(kv)
        self._fence = fence

    @override
    def commit(self, operations: Sequence[Operation]) -> None:
        """As ever, if the lease is live at that moment; LeaseLostError otherwise."""
        for _ in range(_RENEWED):
            fence = self._fence()
            try:
                self._kv.commit([*operations, *fence])
            except ConflictError:
                # A heartbeat writes the lease too: that is no conflict of ours.
                if not self._was_renewed(fence):
                    raise
            else:
                return
        self._kv.commit([*operations, *self._fence()])

    @override
    def close(self) -> None:
        """Not ours to close."""

    def _was_renewed(self, fence: Sequence[Operation]) -> bool:
        expected = [operation for operation in fence if isinstance(operation, Check)]
        records = self._kv.get_many([check.key for check in expected])
        return any(
            record is None or record.version != check.expect
            for record, check in zip(records, expected, strict=True)
        )
