"""Submission: a result that is ready to be sent, as often as it takes."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Generic, Protocol, Self, TypeVar

from google.protobuf.message import Message

from ai.floedb.floecat.reconciler.reconciler_pb2 import ReconcileJobState
from floecat.worker.spool import Spool

Request = TypeVar("Request", bound=Message)


class Accepted(Protocol):
    """What every result is answered with."""

    @property
    def state(self) -> "ReconcileJobState.ValueType": ...


@dataclass(frozen=True, slots=True)
class Submission(Generic[Request]):
    """Chunks that stay invisible, and the closing message that makes them count."""

    method: Callable[..., Accepted]
    chunks: Iterable[Request]
    """The same each time it is gone through."""
    closing: Request
    resources: tuple["_Closable", ...] = ()

    def requests(self, before_closing: Callable[[], None]) -> Iterator[Any]:
        """The messages of one call."""
        yield from self.chunks
        before_closing()
        yield self.closing

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        _kind: type[BaseException] | None,
        _error: BaseException | None,
        _trace: TracebackType | None,
    ) -> None:
        for resource in self.resources:
            resource.close()


class _Closable(Protocol):
    def close(self) -> None: ...


def spooled(kind: type[Request], chunks: Iterable[Request]) -> Spool[Request]:
    """Everything an executor found, kept until it has been taken."""
    spool = Spool(kind)
    try:
        for chunk in chunks:
            spool.write(chunk)
    except BaseException:
        spool.close()
        raise
    return spool
