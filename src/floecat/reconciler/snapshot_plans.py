"""A snapshot's frozen plan in its blob: a header, groups, files used again, delete files.

The blob holds what the planner sent, chunk by chunk; a group is found by where its chunk lies.
"""

from collections.abc import Iterator
from typing import NamedTuple

from ai.floedb.floecat.common.common_pb2 import BlobReference
from ai.floedb.floecat.execution.capture_pb2 import FileGroup, SnapshotPlan
from ai.floedb.floecat.reconciler.executor_control_pb2 import PlanSnapshotChunk
from ai.floedb.floecat.reconciler.stored_pb2 import JobTask
from floecat.artifacts.payloads import blob_ref, relocated
from floecat.errors import DataLossError
from floecat.storage.blobs.frames import read_frames
from floecat.storage.blobs.port import BlobStore


class PlannedGroup(NamedTuple):
    """A group of a plan, and the header of the plan that it belongs to."""

    plan: SnapshotPlan
    group: FileGroup


class SnapshotPlans:
    """Reads frozen plans."""

    def __init__(self, blobs: BlobStore) -> None:
        self._blobs = blobs

    def chunks(self, payload: BlobReference) -> Iterator[PlanSnapshotChunk]:
        """The whole plan, piece by piece."""
        for frame in read_frames(self._blobs, blob_ref(payload)):
            chunk = PlanSnapshotChunk.FromString(frame.content)
            relocated(chunk.plan, payload)
            yield chunk

    def header(self, payload: BlobReference) -> SnapshotPlan:
        """The plan without its files."""
        first = next(self.chunks(payload), None)
        if first is None or not first.HasField("plan"):
            raise DataLossError(f"the snapshot plan {payload.uri} has no header")
        return first.plan

    def group(self, payload: BlobReference, task: JobTask) -> PlannedGroup:
        """The group that a job is to execute."""
        frame = next(read_frames(self._blobs, blob_ref(payload), task.plan_offset), None)
        chunk = PlanSnapshotChunk.FromString(frame.content) if frame else PlanSnapshotChunk()
        for group in chunk.groups:
            if group.group_id == task.target.file_group_id:
                return PlannedGroup(self.header(payload), relocated(group, payload))
        raise DataLossError(f"the snapshot plan {payload.uri} has no group where it should be")
