"""One way for every result: answered before? applied? settled."""

from collections.abc import Callable, Iterable
from datetime import timedelta
from typing import Any, Final

from ai.floedb.floecat.reconciler import executor_control_pb2 as wire
from floecat.errors import (
    AbortedError,
    CancelledError,
    FloecatError,
    InvalidArgumentError,
    NotFoundError,
    UnavailableError,
)
from floecat.reconciler.jobs import (
    CancelRequestedError,
    JobLease,
    LeaseLostError,
    Obsolete,
    Outcome,
    Report,
    RetryableFailure,
    Settled,
    Stopped,
    TerminalFailure,
)
from floecat.reconciler.results.receiving import Received, receive
from floecat.reconciler.spans import span_of
from floecat.reconciler.store.port import ReconcileJobStore
from floecat.storage.blobs.port import BlobStore

Application = Callable[[Received], tuple[Outcome, Report]]
"""What a result does to the catalog, and what that means for its job."""

Losses = Callable[[Received], Report]
"""What a failed result says was done, or wasn't."""

MAX_MESSAGE: Final = 2000


def no_losses(_received: Received) -> Report:
    """A failure that says nothing but why."""
    return Report()


class Results:
    """Receives results and settles their jobs."""

    def __init__(self, store: ReconcileJobStore, blobs: BlobStore) -> None:
        self._store = store
        self._blobs = blobs

    def submit(
        self, requests: Iterable[Any], apply: Application, losses: Losses = no_losses
    ) -> Settled:
        """Take a result. The same one again is answered as the first time, lease or no lease."""
        received = receive(requests, self._blobs, self._store.renew)
        lease, result_id = received.lease, received.result_id
        settled = self._store.find_settled(lease, result_id, received.fingerprint)
        if settled is not None:
            return settled
        if received.succeeded:
            outcome, report = self._outcome(received, apply)
        else:
            outcome, report = failure_outcome(received.closing.failure), losses(received)
        return self._store.settle(lease, result_id, received.fingerprint, outcome, report)

    def complete(self, lease: JobLease, result_id: str, sent: bytes, outcome: Outcome) -> Settled:
        """End a lease without a result."""
        if not result_id:
            raise InvalidArgumentError("result_id is missing: it names the result")
        return self._store.settle(lease, result_id, sent, outcome)

    def _outcome(self, received: Received, apply: Application) -> tuple[Outcome, Report]:
        try:
            self._store.fence(received.lease)
            return apply(received)
        except CancelRequestedError:
            return Stopped(), Report()  # what it found isn't wanted any more
        except (LeaseLostError, AbortedError, UnavailableError, CancelledError):
            raise  # the same submission may work in a moment, or is nobody's any more
        except NotFoundError as error:
            return _missing(error), Report()
        except FloecatError as error:
            return TerminalFailure(error.message), Report()


def _missing(error: NotFoundError) -> Outcome:
    """Resources go while work on them is under way; anything else should have been there."""
    is_resource = "kind" in error.metadata
    return Obsolete(error.message) if is_resource else TerminalFailure(error.message)


def failure_outcome(failure: wire.LeasedJobFailure) -> Outcome:
    """What a worker's failure means."""
    message = failure.message[:MAX_MESSAGE] or "its worker gave no reason"
    match failure.failure_class:
        case wire.FCL_TERMINAL:
            return TerminalFailure(message)
        case wire.FCL_OBSOLETE:
            return Obsolete(message)
        case _:
            return RetryableFailure(message, _retry_after(failure))


def _retry_after(failure: wire.LeasedJobFailure) -> timedelta | None:
    if not failure.HasField("retry_after"):
        return None
    return min(span_of(failure.retry_after, "failure.retry_after"), timedelta(hours=1))
