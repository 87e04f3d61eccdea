"""How every mutation runs: replayed under its key, refused by its precondition, retried on a race.

A mutation is a function that reads what it needs and returns the operations to commit. It runs
again whenever a concurrent commit changed what it read, so no update is ever lost; what it decides
is always about the state it commits on.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Generic, TypeVar

from google.protobuf.message import Message

from ai.floedb.floecat.common.common_pb2 import MutationMeta, Precondition
from floecat.catalog.callers import Caller
from floecat.catalog.records import CatalogStores
from floecat.catalog.replay import MutationRequest, Replay
from floecat.errors import (
    ConflictError,
    ContentionError,
    FailedPreconditionError,
    FloecatError,
)
from floecat.storage.kv.port import Operation

MAX_ATTEMPTS: Final = 64

Response = TypeVar("Response", bound=Message)


class PreconditionFailedError(FailedPreconditionError):
    """The record isn't the one the caller expects; `current` says what it is."""

    default_reason = "PRECONDITION_FAILED"

    def __init__(self, message: str, current: MutationMeta) -> None:
        super().__init__(message, metadata={"version": str(current.version), "etag": current.etag})
        self.current = current


@dataclass(frozen=True, slots=True)
class Change(Generic[Response]):
    """What a mutation commits, and what it answers once that is done."""

    operations: tuple[Operation, ...]
    response: Response


def check_precondition(precondition: Precondition, current: MutationMeta) -> None:
    """Refuse unless the record is still the one the caller saw."""
    wants_version = precondition.HasField("expected_version")
    if wants_version and precondition.expected_version != current.version:
        raise _unexpected("version", precondition.expected_version, current.version, current)
    if precondition.HasField("expected_etag") and precondition.expected_etag != current.etag:
        raise _unexpected("etag", precondition.expected_etag, current.etag, current)


def _unexpected(
    what: str, expected: object, now: object, current: MutationMeta
) -> PreconditionFailedError:
    return PreconditionFailedError(
        f"expected {what} {expected}, but it is {now}: read it again and decide anew", current
    )


class Mutations:
    """Runs mutations on the store."""

    def __init__(self, stores: CatalogStores) -> None:
        self._stores = stores

    def run(
        self,
        caller: Caller,
        request: MutationRequest,
        response_type: type[Response],
        change: Callable[[], Change[Response]],
    ) -> Response:
        """Commit what `change` decides, once per idempotency key."""
        replay = Replay(self._stores, caller, request, response_type)
        for _ in range(MAX_ATTEMPTS):
            caller.asker.require_waiting()
            answered = replay.find_answer()
            if answered is not None:
                caller.asker.answer_replayed()
                return answered
            try:
                decided = change()
                self._stores.kv.commit((*replay.remember(decided.response), *decided.operations))
            except ConflictError:
                continue
            except FloecatError:
                # A call under the same key may have come between: then its answer counts, not our
                # refusal.
                answered = replay.find_answer()
                if answered is None:
                    raise
                caller.asker.answer_replayed()
                return answered
            return decided.response
        raise ContentionError("too many concurrent changes to the same records: try again")
