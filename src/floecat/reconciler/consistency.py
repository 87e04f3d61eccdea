"""Do the queue's rows agree with its jobs, and mirrors with relations? Read only.

The same rules as the model tests assert, over a store of any size: one walk, and a look at what
each row speaks of.
"""

from collections.abc import Iterator, Mapping

from ai.floedb.floecat.common import common_pb2
from ai.floedb.floecat.common.common_pb2 import BlobReference
from ai.floedb.floecat.execution.stored_pb2 import SnapshotHoldings
from ai.floedb.floecat.reconciler.stored_pb2 import FinalSnapshot, StoredJob, StoredLease
from floecat.artifacts.payloads import blob_ref, read_message
from floecat.artifacts.segments import Segment
from floecat.catalog import keys as catalog_keys
from floecat.catalog.consistency import Finding, RecordCheck, findings
from floecat.catalog.kinds import KIND_NAMES, Kind
from floecat.catalog.records import CatalogStores
from floecat.catalog.references import references_of
from floecat.errors import DataLossError, NotFoundError
from floecat.reconciler import keys
from floecat.reconciler.states import LEASED, QUEUED, TERMINAL, WAITING
from floecat.storage.kv.port import Key, Record


class QueueCheck:
    """Checks the queue's records."""

    def __init__(self, stores: CatalogStores) -> None:
        self._kv = stores.kv
        self._blobs = stores.blobs
        self._sound: set[str] = set()
        self._checks: Mapping[str, RecordCheck] = {
            "job": self._job,
            "ready": self._ready,
            "parked": self._parked,
            "lease": self._lease,
            "lane": self._lane,
            "expand": self._expansion,
            "dedupe": self._dedupe,
            "active": self._active,
            "final": self._final,
            "mirrors": self._mirror,
            "schedule": self._schedule,
            "reconciler": self._settings,
        }

    def run(self) -> Iterator[Finding]:
        """Everything that doesn't match, as it is found."""
        return findings(self._kv, self._checks)

    def _job(self, record: Record) -> Iterator[str]:
        job = StoredJob.FromString(record.value)
        match job.state:
            case state if state == QUEUED:
                parked = bool(job.lane) and self._has(keys.parked(job))
                if not (parked or self._has(keys.ready(job))):
                    yield "is queued, but neither ready nor parked: nobody will run it"
            case state if state in LEASED:
                if not self._has(keys.lease(job.account_id, job.job_id)):
                    yield "runs, but nobody has it"
            case state if state == WAITING and job.children_total:
                yield from self._waiting(job)
        if not job.ancestors and job.state not in TERMINAL and not self._has(keys.active(job)):
            yield "hasn't ended, but isn't among its connector's runs"
        if not job.ancestors and job.state not in TERMINAL:
            yield from self._owned(job.account_id, common_pb2.RK_ACCOUNT, job.account_id)
        yield from self._payloads(record)

    def _waiting(self, job: StoredJob) -> Iterator[str]:
        open_rows = self._kv.scan(keys.open_partition(job.account_id, job.job_id), limit=1)
        expanding = self._has(keys.expansion(job.account_id, job.job_id))
        if not (open_rows or expanding or job.has_barrier):
            yield "waits for children, but none of them is left"

    def _payloads(self, record: Record) -> Iterator[str]:
        for reference in references_of(record):
            with self._blobs.open(blob_ref(reference)) as content:
                if not content.read(1) and reference.size_bytes:
                    yield f"names the blob {reference.uri}, which is empty"

    def _ready(self, record: Record) -> Iterator[str]:
        account = record.key.partition.split("/")[2]
        job = self._find_job(account, keys.due_of(record.key.sort)[1])
        if job is None or job.state != QUEUED or keys.ready(job) != record.key:
            yield "is of a job that isn't queued there"

    def _parked(self, record: Record) -> Iterator[str]:
        _, account, lane = record.key.partition.split("/", 2)
        job = self._find_job(account, keys.due_of(record.key.sort)[1])
        if job is None or job.state != QUEUED:
            yield "is of a job that isn't queued"
        if not self._has(keys.lane(account, lane)):
            yield "waits for a lane that nobody has"

    def _lease(self, record: Record) -> Iterator[str]:
        account = record.key.partition.split("/")[1]
        held = StoredLease.FromString(record.value)
        job = self._find_job(account, record.key.sort)
        if job is None or job.state not in LEASED or job.epoch != held.epoch:
            yield "is of a job that doesn't run under it"
        if not self._has(keys.expiry(held.filed_ms, account, record.key.sort)):
            yield "would never be found to have expired"

    def _lane(self, record: Record) -> Iterator[str]:
        account = record.key.partition.split("/")[1]
        job = self._find_job(account, record.value.decode())
        if job is None or job.state in TERMINAL:
            yield "is held by a job that has ended"

    def _expansion(self, record: Record) -> Iterator[str]:
        account, job_id = record.key.sort.split("/")
        if self._find_job(account, job_id) is None:
            yield "is of a job that doesn't exist"

    def _dedupe(self, record: Record) -> Iterator[str]:
        account = record.key.partition.split("/")[1]
        job = self._find_job(account, record.value.decode())
        if job is None or job.state in TERMINAL:
            yield "joins requests to a job that has ended"

    def _active(self, record: Record) -> Iterator[str]:
        _, account, _ = record.key.partition.split("/")
        job = self._find_job(account, record.key.sort)
        if job is None or job.state in TERMINAL:
            yield "is of a run that has ended"

    def _final(self, record: Record) -> Iterator[str]:
        _, account, table_id = record.key.partition.split("/")
        final = FinalSnapshot.FromString(record.value)
        if not self._has(catalog_keys.snapshot(account, table_id, int(record.key.sort))):
            yield "is of a snapshot that doesn't exist"
        yield from self._payloads(record)
        if final.segments.uri:
            yield from self._held(final.segments)

    def _held(self, reference: BlobReference) -> Iterator[str]:
        """Snapshots share segments and index parts; each is looked at once."""
        holdings = read_message(self._blobs, reference, SnapshotHoldings)
        for blob in holdings.blobs:
            yield from self._present(blob)
        for segment in holdings.segments:
            if segment.manifest.sha256 not in self._sound:
                blobs = Segment.open(self._blobs, segment.manifest).blobs()
                problems = [problem for blob in blobs for problem in self._present(blob)]
                yield from problems
                if not problems:
                    self._sound.add(segment.manifest.sha256)

    def _present(self, reference: BlobReference) -> Iterator[str]:
        if reference.sha256 in self._sound:
            return
        try:
            self._blobs.open(blob_ref(reference)).close()
        except (DataLossError, NotFoundError) as error:
            yield f"needs a blob that can't be read: {error.message}"
        else:
            self._sound.add(reference.sha256)

    def _mirror(self, record: Record) -> Iterator[str]:
        """What it speaks of may be deleted by now: then the next run makes it anew."""
        if record.key.sort.partition("/")[0] not in {"table", "view"} or not record.value:
            yield "doesn't say what mirrors what"
        _, account, connector_id = record.key.partition.split("/")
        yield from self._owned(account, common_pb2.RK_CONNECTOR, connector_id)

    def _schedule(self, record: Record) -> Iterator[str]:
        account = record.key.partition.split("/")[1]
        yield from self._owned(account, common_pb2.RK_CONNECTOR, record.key.sort)

    def _settings(self, record: Record) -> Iterator[str]:
        account = record.key.partition.split("/")[1]
        yield from self._owned(account, common_pb2.RK_ACCOUNT, account)

    def _owned(self, account: str, kind: Kind, identifier: str) -> Iterator[str]:
        """What belongs to something goes with it, in the end."""
        owner = catalog_keys.resource(account, kind, identifier)
        sweep = catalog_keys.sweep(account, kind, identifier)
        if not (self._has(owner) or self._has(sweep)):
            yield f"is of {KIND_NAMES[kind]} {identifier}, which doesn't exist"

    def _find_job(self, account: str, job_id: str) -> StoredJob | None:
        record = self._kv.get(keys.job(account, job_id))
        return None if record is None else StoredJob.FromString(record.value)

    def _has(self, key: Key) -> bool:
        return self._kv.get(key) is not None
