"""What goes into the queue and what comes out of it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import TypeAlias
from uuid import UUID, uuid5

from ai.floedb.floecat.common.common_pb2 import BlobReference
from ai.floedb.floecat.reconciler.reconciler_pb2 import (
    ExecutionPolicy,
    JobFailure,
    ReconcileCounters,
    ReconcileJobKind,
)
from ai.floedb.floecat.reconciler.stored_pb2 import Sighting, StoredJob
from floecat.errors import FailedPreconditionError
from floecat.reconciler.states import State
from floecat.storage.kv.port import Key

Kind: TypeAlias = ReconcileJobKind.ValueType


class LeaseLostError(FailedPreconditionError):
    """The lease is over: somebody else may have the job. Stop; nothing was changed."""

    default_reason = "LEASE_LOST"


class CancelRequestedError(FailedPreconditionError):
    """The job is to stop: whatever its worker found isn't wanted any more."""

    default_reason = "CANCEL_REQUESTED"


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueLimits:
    """How often, how long, how many."""

    max_attempts: int = 8
    base_backoff: timedelta = timedelta(milliseconds=500)
    max_backoff: timedelta = timedelta(seconds=30)
    lease: timedelta = timedelta(seconds=30)
    ready_scan_limit: int = 32
    finished_retention: Callable[[str], timedelta] = lambda _account: timedelta(hours=24)
    """How long trees of an account are kept once they have ended."""
    result_retention: timedelta = timedelta(hours=24)


@dataclass(frozen=True, slots=True)
class RequestKey:
    """The caller's name for a request: under the same one the answer is the same."""

    account_id: str
    key: str
    fingerprint: bytes
    """Of the request; another one under the same key is refused."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NewJob:
    """A root job."""

    account_id: str
    kind: Kind
    task: bytes
    execution_policy: ExecutionPolicy = field(default_factory=ExecutionPolicy)
    connector_id: str = ""
    lane: str = ""
    fingerprint: str = ""
    """Requests with the same one are joined while the first is active; empty joins none."""
    request: RequestKey | None = None


@dataclass(frozen=True, slots=True)
class Enqueued:
    """A job that exists."""

    job_id: str
    deduplicated: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class LeaseSelector:
    """Which jobs a worker takes."""

    executor_id: str
    kinds: tuple[Kind, ...]
    classes: tuple[int, ...] = ()
    """None means all."""
    lanes: tuple[str, ...] = ()
    """Routing lanes besides the one without a name."""


@dataclass(frozen=True, slots=True)
class JobLease:
    """Proof of a lease."""

    account_id: str
    job_id: str
    epoch: int


@dataclass(frozen=True, slots=True)
class LeasedJob:
    """A job that was handed out."""

    lease: JobLease
    job: StoredJob
    expires_at: datetime


@dataclass(frozen=True, slots=True)
class Renewal:
    """A lease that goes on."""

    expires_at: datetime
    cancel_requested: bool


@dataclass(frozen=True, slots=True)
class Succeeded:
    """Done, with nothing below."""

    message: str = ""


@dataclass(frozen=True, slots=True)
class Planned:
    """Done, and this is what follows."""

    plan: BlobReference
    children_total: int
    has_barrier: bool = False
    message: str = ""
    left_alone: int = 0
    """Parts that were as they should be, so that nothing follows for them; they are well too."""


@dataclass(frozen=True, slots=True)
class RetryableFailure:
    """It may work later."""

    message: str
    retry_after: timedelta | None = None


@dataclass(frozen=True, slots=True)
class TerminalFailure:
    """Trying again can't help."""

    message: str


@dataclass(frozen=True, slots=True)
class Obsolete:
    """What it was to work on is gone."""

    message: str


@dataclass(frozen=True, slots=True)
class HandedBack:
    """The worker stops, or something it needs isn't there yet: no attempt is charged."""

    message: str = ""
    delay: timedelta = timedelta(0)


@dataclass(frozen=True, slots=True)
class Stopped:
    """The worker saw the cancellation."""


Outcome: TypeAlias = (
    Succeeded | Planned | RetryableFailure | TerminalFailure | Obsolete | HandedBack | Stopped
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """What comes with an outcome, committed with it."""

    counters: ReconcileCounters = field(default_factory=ReconcileCounters)
    """What the job itself did."""
    payload: BlobReference | None = None
    """What it leaves behind."""
    records: Mapping[Key, bytes] = field(default_factory=dict)
    """Records that become visible with it."""
    failures: Sequence[JobFailure] = ()
    """What of it failed without failing all of it."""
    sightings: Sequence[Sighting] = ()
    """Whether its table has what the run names."""


@dataclass(frozen=True, slots=True)
class Settled:
    """Where a job stands after a result."""

    state: State


def child_id(parent_id: str, ordinal: int) -> str:
    """The id of a plan's child: the plan *is* the children, so nobody has to hand ids out."""
    return str(uuid5(UUID(parent_id), str(ordinal)))
