"""What a fault injector between a store and its server can do."""

from collections.abc import Callable
from typing import Protocol, TypeAlias

Meanwhile: TypeAlias = Callable[[], object]
"""What others do between the loss and the store's noticing it."""


def nothing() -> None:
    """Nothing happens meanwhile."""


class CommitFaults(Protocol):
    """Loses one commit on its way there, or its answer on the way back."""

    lost: int

    def lose_next_request(self, meanwhile: Meanwhile = nothing) -> None: ...

    def lose_next_reply(self, meanwhile: Meanwhile = nothing) -> None: ...
