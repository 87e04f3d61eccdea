"""Segments from files, without a service: tasks are run, and what they left is put together."""

from collections.abc import Iterable, Sequence
from pathlib import Path

from tests.support.captures import access_to, planned, planned_deletes

from ai.floedb.floecat.execution.capture_pb2 import PlannedFile, SegmentReference
from ai.floedb.floecat.execution.stored_pb2 import SegmentManifest, SegmentPart
from floecat.artifacts.positions import PositionRun, PositionsFile
from floecat.artifacts.segments import Segment
from floecat.capture.columns import FilePolicy
from floecat.capture.runners import CaptureRunner, InlineCaptureRunner, Watch
from floecat.capture.tasks import TaskContext, balanced
from floecat.storage.blobs.opening import FilesystemBlobConfig, open_blob_store
from floecat.storage.blobs.port import BlobStore
from floecat.worker.segments import add_result, finish_segment


class Patient:
    """Waits for as long as it takes."""

    def require_live(self) -> None:
        pass

    def progressed(self, done: int, total: int) -> None:
        pass


def segment_of(
    folder: Path,
    files: Sequence[Path],
    policy: FilePolicy,
    runner: CaptureRunner | None = None,
    name: str = "one",
    watch: Watch | None = None,
    *,
    deletes: Sequence[Path] = (),
) -> Segment:
    """Capture files, and files of position deletes, into a segment; blobs lie in `folder`."""
    written = written_segment(folder, files, policy, runner, name, watch, deletes=deletes)
    return Segment.open(blobs_in(folder), written.manifest)


def blobs_in(folder: Path) -> BlobStore:
    """The store that segments are left in."""
    return open_blob_store(FilesystemBlobConfig(folder / "blobs"))


def written_segment(
    folder: Path,
    files: Sequence[Path],
    policy: FilePolicy,
    runner: CaptureRunner | None = None,
    name: str = "one",
    watch: Watch | None = None,
    *,
    deletes: Sequence[Path] = (),
) -> SegmentReference:
    """The same, as a result names it."""
    context = context_of(folder, files, policy, name)
    plans: list[PlannedFile] = [planned(path) for path in files]
    plans += [planned_deletes(path) for path in deletes]
    chosen = InlineCaptureRunner() if runner is None else runner
    manifest = SegmentManifest(segment_id=name, blob_prefix=context.blob_prefix)
    for result in chosen.run(
        context, balanced(plans, policy, chosen.parallelism), watch or Patient()
    ):
        add_result(manifest, result)
    return finish_segment(blobs_in(folder), manifest)


def context_of(folder: Path, files: Sequence[Path], policy: FilePolicy, name: str) -> TaskContext:
    """What tasks of such a segment are told."""
    return TaskContext(
        access=access_to(files[0].parent),
        policy=policy,
        blobs=FilesystemBlobConfig(folder / "blobs"),
        blob_prefix=f"captures/{name}",
    )


def positions_in(blobs: BlobStore, parts: Iterable[SegmentPart]) -> dict[str, list[PositionRun]]:
    """What is known of delete files, by their names."""
    found: dict[str, list[PositionRun]] = {}
    for part in parts:
        for file in part.delete_files:
            positions = PositionsFile(blobs, part.positions)
            found[Path(file.identity.file_path).name] = [
                PositionRun(path, positions.positions(batch.number, row))
                for batch in positions.runs(file)
                for row, path in enumerate(batch.runs.column("path").to_pylist())
            ]
    return found
