"""Lists of jobs and of what became of files, a page at a time."""

from collections.abc import Callable, Iterator, Sequence
from heapq import nsmallest
from typing import Final, NamedTuple

from ai.floedb.floecat.common import common_pb2
from ai.floedb.floecat.execution.capture_pb2 import FileExecutionResult, FileGroupResultChunk
from ai.floedb.floecat.reconciler import reconciler_pb2 as messages
from ai.floedb.floecat.reconciler.reconciler_pb2 import (
    ListFileExecutionResultsRequest,
    ListReconcileJobsRequest,
    ReconcileJob,
)
from ai.floedb.floecat.reconciler.stored_pb2 import StoredJob
from floecat.artifacts.payloads import blob_ref
from floecat.catalog.callers import Caller, named_id
from floecat.catalog.paging import Page, PageCursor, fitting, page_cursor
from floecat.errors import DataLossError, InvalidArgumentError, NotFoundError
from floecat.reconciler.projections import Projections
from floecat.reconciler.store.port import ReconcileJobStore
from floecat.storage.blobs.frames import read_frames
from floecat.storage.blobs.port import BlobStore

_LOOKED_AT: Final = 2000
"""Jobs looked at for one page: with a filter that fits few, a page may have less than it could."""
_ROW_FAILURES: Final = 5


class _Row(NamedTuple):
    job: StoredJob
    cursor: str


class JobListings:
    """Lists root jobs, or one job's children."""

    def __init__(self, store: ReconcileJobStore, projections: Projections) -> None:
        self._store = store
        self._projections = projections

    def list(self, caller: Caller, request: ListReconcileJobsRequest) -> Page[ReconcileJob]:
        """A page of jobs: roots newest first, children in their plan's order."""
        states, kinds = sorted(request.states), sorted(request.kinds)
        parent_id, connector_id = request.parent_job_id.id, request.connector_id.id
        scope = ("jobs", caller.account_id, parent_id, connector_id, f"{states}{kinds}")
        cursor = page_cursor(request.page, *scope)
        following = self._following(caller, parent_id, connector_id)
        rows, more = _filtered(following, cursor, _filter(states, kinds))
        shown = self._projections.jobs([row.job for row in rows])
        for job in shown:
            del job.failures[_ROW_FAILURES:]
        count = fitting([job.ByteSize() for job in shown]) if shown else 0
        if count < len(shown):
            return Page(shown[:count], cursor.token(rows[count - 1].cursor))
        return Page(shown, cursor.token(more) if more else "")

    def _following(
        self, caller: Caller, parent_id: str, connector_id: str
    ) -> Callable[[str | None, int], Sequence[_Row]]:
        reading, account = self._store.reading, caller.account_id
        if not parent_id:
            return lambda after, limit: [
                _Row(*row) for row in reading.roots(account, connector_id, after, limit)
            ]
        parent = self._store.get(account, parent_id)

        def children(after: str | None, limit: int) -> list[_Row]:
            start = int(after) + 1 if after is not None else 0
            found = reading.children(parent, start, limit)
            return [_Row(child, str(child.ordinal)) for child in found]

        return children


def _filter(states: Sequence[int], kinds: Sequence[int]) -> Callable[[StoredJob], bool]:
    return lambda job: (not states or job.state in states) and (not kinds or job.kind in kinds)


def _filtered(
    following: Callable[[str | None, int], Sequence[_Row]],
    cursor: PageCursor,
    fits: Callable[[StoredJob], bool],
) -> tuple[list[_Row], str]:
    """Rows that fit, and behind which to go on; empty at the end."""
    rows: list[_Row] = []
    after, looked_at = cursor.after, 0
    while looked_at < _LOOKED_AT:
        page = following(after, cursor.size + 1)
        for row in page[: cursor.size]:
            after = row.cursor
            looked_at += 1
            if fits(row.job):
                rows.append(row)
            if len(rows) == cursor.size:
                break
        if len(page) <= cursor.size and (not page or page[-1].cursor == after):
            return rows, ""
        if len(rows) == cursor.size:
            break
    return rows, after or ""


class FileResultListings:
    """Lists what became of each file of a group, or of all groups of a snapshot."""

    def __init__(self, store: ReconcileJobStore, blobs: BlobStore) -> None:
        self._store = store
        self._blobs = blobs

    def list(
        self, caller: Caller, request: ListFileExecutionResultsRequest
    ) -> Page[FileExecutionResult]:
        """A page of results by file path. A result that can't be read is left out."""
        identifier = named_id(caller, request.job_id, common_pb2.RK_RECONCILE_JOB, "job_id")
        job = self._store.get(caller.account_id, identifier)
        states = set(request.states)
        cursor = page_cursor(
            request.page, "files", caller.account_id, job.job_id, f"{sorted(states)}"
        )
        behind = (
            result
            for group in self._groups(job)
            for result in self._results(group)
            if (not states or result.state in states)
            and (cursor.after is None or result.identity.file_path > cursor.after)
        )
        # Groups aren't in the order of paths, so all are read; but never more than a page is kept.
        first = nsmallest(cursor.size + 1, behind, key=lambda result: result.identity.file_path)
        page = first[: min(cursor.size, fitting([row.ByteSize() for row in first]))]
        more = len(page) < len(first)
        return Page(page, cursor.token(page[-1].identity.file_path) if more else "")

    def _groups(self, job: StoredJob) -> Iterator[StoredJob]:
        if job.kind == messages.EXEC_FILE_GROUP:
            yield job
        elif job.kind == messages.PLAN_SNAPSHOT:
            for start in range(0, job.children_total, 200):
                yield from self._store.reading.children(job, start, 200)
        else:
            raise InvalidArgumentError(
                "only file groups, and snapshots for all of theirs, have files", field="job_id"
            )

    def _results(self, group: StoredJob) -> Iterator[FileExecutionResult]:
        if group.kind != messages.EXEC_FILE_GROUP or not group.payload.uri:
            return
        try:
            for frame in read_frames(self._blobs, blob_ref(group.payload)):
                yield from FileGroupResultChunk.FromString(frame.content).files
        except (NotFoundError, DataLossError):
            return  # people see less rather than nothing
