"""Where the queue's records lie in the key-value store. Nothing else in this room builds keys.

Canonical job state:
    job/{account}/{slice} {job}                 a job
    open/{account}/{parent} {slice}             children that aren't done, sliced by ordinal
    expand/{slice} {account}/{parent}           children that don't exist yet
    dedupe/{account} {fingerprint}              the active job of an identical request
    request/{account} {key}                     what a request was answered with
    result/{account}/{job} {result}             what a result was answered with
    recorded/{account} {job}                    snapshots that its result has recorded so far
    gate/{account} {job}                        nothing below this job may run any more
    cancel/{slice} {account}/{job}              children that haven't been told yet
    roots/{account} {newest first}/{job}        root jobs
    runs/{account}/{connector} {newest first}/{job}   the same, of one connector
    active/{account}/{connector} {job}          root jobs that haven't ended
    finished/{slice} {when}/{account}/{job}     root jobs that have ended

Automatic runs:
    reconciler/{account} settings               an account's defaults
    schedule/{account} {connector}              when a connector runs next, and what it ran last
    scheduler owner                             the process that schedules, for a while

For people, and written with what they tell of:
    sums/{account}/{parent} {slice}             what ended children did, sliced by ordinal

Ready queue:
    ready/{kind}.{class}.{lane}/{account}/{slice} {due}/{job}
    turn/{kind}.{class}.{lane} {account}/{slice}    there while that partition may not be empty

Lease coordination:
    lease/{account} {job}                       who works on it
    expiry/{slice} {not before}/{account}/{job}
    lane/{account} {lane}                       the job that has it
    parked/{account}/{lane} {due}/{job}         jobs that wait for it
"""

import hashlib
from typing import Final

from ai.floedb.floecat.reconciler import reconciler_pb2 as messages
from ai.floedb.floecat.reconciler.stored_pb2 import StoredJob
from floecat.storage.kv.port import Key

JOB_SLICES: Final = 16
OPEN_SLICES: Final = 16
READY_SLICES: Final = 4
WORK_SLICES: Final = 4

EXPANSIONS: Final = "expand/"
CANCELLATIONS: Final = "cancel/"
FINALIZATIONS: Final = (
    f"ready/{messages.ReconcileJobKind.Name(messages.FINALIZE_SNAPSHOT_CAPTURE)}."
)
"""Areas that the service's own chores look at."""

_LAST_MS: Final = 10**13


def _slice(text: str, slices: int) -> int:
    return hashlib.blake2b(text.encode(), digest_size=2).digest()[0] % slices


def job(account: str, job_id: str) -> Key:
    return Key(f"job/{account}/{_slice(job_id, JOB_SLICES):02}", job_id)


def open_slice(account: str, parent_id: str, ordinal: int) -> Key:
    return Key(open_partition(account, parent_id), f"{ordinal % OPEN_SLICES:02}")


def open_partition(account: str, parent_id: str) -> str:
    return f"open/{account}/{parent_id}"


def expansion(account: str, parent_id: str) -> Key:
    return _work("expand", account, parent_id)


def cancellation(account: str, job_id: str) -> Key:
    return _work("cancel", account, job_id)


def work_partitions(area: str) -> list[str]:
    """The partitions of work that is left to do in the background."""
    return [f"{area}/{number:02}" for number in range(WORK_SLICES)]


def _work(area: str, account: str, job_id: str) -> Key:
    return Key(work_partitions(area)[_slice(job_id, WORK_SLICES)], f"{account}/{job_id}")


def dedupe(account: str, fingerprint: str) -> Key:
    return Key(f"dedupe/{account}", fingerprint)


def request(account: str, key: str) -> Key:
    return Key(f"request/{account}", key)


def settings(account: str) -> Key:
    return Key(f"reconciler/{account}", "settings")


def schedule(account: str, connector_id: str) -> Key:
    return Key(f"schedule/{account}", connector_id)


SCHEDULER: Final = Key("scheduler", "owner")


def result(account: str, job_id: str, result_id: str) -> Key:
    return Key(f"result/{account}/{job_id}", result_id)


def recorded(account: str, job_id: str) -> Key:
    return Key(f"recorded/{account}", job_id)


def gate(account: str, job_id: str) -> Key:
    return Key(f"gate/{account}", job_id)


def root(account: str, created_ms: int, job_id: str) -> Key:
    return Key(roots(account), f"{_LAST_MS - created_ms:013}/{job_id}")


def roots(account: str) -> str:
    return f"roots/{account}"


def runs(account: str, connector_id: str) -> str:
    return f"runs/{account}/{connector_id}"


def run(stored: StoredJob) -> Key:
    partition = runs(stored.account_id, stored.connector_id)
    return Key(partition, root(stored.account_id, stored.created_ms, stored.job_id).sort)


def active(stored: StoredJob) -> Key:
    return Key(active_runs(stored.account_id, stored.connector_id), stored.job_id)


def active_runs(account: str, connector_id: str) -> str:
    return f"active/{account}/{connector_id}"


def sums(account: str, parent_id: str, ordinal: int) -> Key:
    return Key(f"sums/{account}/{parent_id}", f"{ordinal % OPEN_SLICES:02}")


def all_sums(account: str, parent_id: str) -> list[Key]:
    return [sums(account, parent_id, slot) for slot in range(OPEN_SLICES)]


def finished(when_ms: int, account: str, job_id: str) -> Key:
    partition = work_partitions("finished")[_slice(job_id, WORK_SLICES)]
    return Key(partition, f"{when_ms:013}/{account}/{job_id}")


def queue_name(stored: StoredJob) -> str:
    """The queue that a job is in: its kind, class and routing lane."""
    policy = stored.execution_policy
    return queue(stored.kind, policy.execution_class, policy.execution_lane)


def queue(kind: int, execution_class: int, lane: str) -> str:
    name = messages.ReconcileJobKind.Name(kind)  # type: ignore[arg-type]  # a number of the enum
    chosen = execution_class or messages.EXC_DEFAULT
    return f"{name}.{messages.ExecutionClass.Name(chosen)}.{lane}"  # type: ignore[arg-type]


def ready(stored: StoredJob) -> Key:
    share = f"{stored.account_id}/{_slice(stored.job_id, READY_SLICES):02}"
    partition = f"ready/{queue_name(stored)}/{share}"
    return Key(partition, f"{stored.due_ms:013}/{stored.job_id}")


def ready_partition(queue_name: str, share: str) -> str:
    return f"ready/{queue_name}/{share}"


def turn(stored: StoredJob) -> Key:
    share = f"{stored.account_id}/{_slice(stored.job_id, READY_SLICES):02}"
    return Key(turns(queue_name(stored)), share)


def turns(queue_name: str) -> str:
    return f"turn/{queue_name}"


def due_of(sort: str) -> tuple[int, str]:
    """When, and which job, of a ready or parked row."""
    due, _, job_id = sort.partition("/")
    return int(due), job_id


def lease(account: str, job_id: str) -> Key:
    return Key(f"lease/{account}", job_id)


def expiry(not_before_ms: int, account: str, job_id: str) -> Key:
    partition = work_partitions("expiry")[_slice(job_id, WORK_SLICES)]
    return Key(partition, f"{not_before_ms:013}/{account}/{job_id}")


def lane(account: str, name: str) -> Key:
    return Key(f"lane/{account}", name)


def parked_partition(account: str, name: str) -> str:
    return f"parked/{account}/{name}"


def parked(stored: StoredJob) -> Key:
    partition = parked_partition(stored.account_id, stored.lane)
    return Key(partition, f"{stored.due_ms:013}/{stored.job_id}")
