"""A result as it comes in: chunks, then one message that says what they were."""

import hashlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from time import monotonic
from typing import Any, Final
from uuid import uuid4

from ai.floedb.floecat.common.common_pb2 import BlobReference
from floecat.errors import InvalidArgumentError
from floecat.reconciler.assignments import lease_of
from floecat.reconciler.jobs import JobLease
from floecat.reconciler.results.pieces import Pieces, WrittenPieces
from floecat.storage.blobs.port import BlobStore

_RENEW_SECONDS: Final = 5.0


@dataclass(frozen=True, slots=True)
class Received:
    """A result that came in whole."""

    lease: JobLease
    succeeded: bool
    closing: Any
    """The closing message: the summary of a success, or why it failed."""
    pieces: Pieces
    fingerprint: bytes
    """Of everything that was sent: another result under the same id is another one."""

    @property
    def result_id(self) -> str:
        """The result's own name."""
        return str(self.closing.result_id)


def receive(
    requests: Iterable[Any], blobs: BlobStore, renew: Callable[[JobLease], object]
) -> Received:
    """Take a stream of messages that have a `lease` and one `part`. Nothing is visible of it yet.

    Receiving is a sign of life: the lease is renewed while pieces come in.
    """
    incoming = _Incoming(iter(requests), renew)
    lease = incoming.lease
    name = f"results/{lease.account_id}/{lease.job_id}/{lease.epoch}-{uuid4().hex}"
    pieces = Pieces(blobs, name, incoming.chunks())
    closing = incoming.closing()
    plan = getattr(closing, "plan", None)
    if isinstance(plan, BlobReference) and plan.uri:
        pieces = WrittenPieces(blobs, plan)
    return Received(lease, incoming.succeeded, closing, pieces, incoming.digest.digest())


class _Incoming:
    def __init__(self, requests: Iterator[Any], renew: Callable[[JobLease], object]) -> None:
        self._requests = requests
        self._renew = renew
        self._renewed = monotonic()
        self._current = self._next()
        self.lease = lease_of(self._current.lease)
        self.digest = hashlib.sha256()

    def chunks(self) -> Iterator[bytes]:
        """Every chunk, up to the closing message."""
        while self._current.WhichOneof("part") == "chunk":
            content = self._current.chunk.SerializeToString(deterministic=True)
            self.digest.update(len(content).to_bytes(8, "big") + content)
            yield content
            self._current = self._next()
            self._stay_alive()

    def closing(self) -> Any:
        """The message behind the last chunk, which must be the last of all."""
        part = self._current.WhichOneof("part")
        if part is None:
            raise InvalidArgumentError("a message of the stream has no part", field="part")
        message = getattr(self._current, part)
        if not message.result_id:
            raise InvalidArgumentError("result_id is missing: it names the result", field=part)
        self.digest.update(self._current.SerializeToString(deterministic=True))
        if next(self._requests, None) is not None:
            raise InvalidArgumentError("the stream goes on behind its closing message")
        return message

    @property
    def succeeded(self) -> bool:
        return bool(self._current.WhichOneof("part") == "success")

    def _next(self) -> Any:
        message = next(self._requests, None)
        if message is None:
            raise InvalidArgumentError("the stream ended without success or failure", field="part")
        return message

    def _stay_alive(self) -> None:
        if self._current.lease.epoch != self.lease.epoch:
            raise InvalidArgumentError("the lease changed inside the stream", field="lease")
        if monotonic() - self._renewed > _RENEW_SECONDS:
            self._renew(self.lease)
            self._renewed = monotonic()
