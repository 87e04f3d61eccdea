"""What the upstream's metadata says of files that nobody opens, told once, while they are planned.

A group that has to ask for it goes through all files of the snapshot, and there may be thousands of
groups.
"""

from collections.abc import Callable, Iterable
from typing import Final

from ai.floedb.floecat.catalog.stats_pb2 import FileTargetStats, TargetStatsRecord
from ai.floedb.floecat.execution.capture_pb2 import PlannedFile
from ai.floedb.floecat.execution.scan_pb2 import ScanFile
from floecat.worker.spool import Spool
from floecat.worker.work import LeasedWork

_LOOK_EVERY: Final = 1000

Opens = Callable[[ScanFile], bool]
"""Whether the engine reads a file itself."""


def with_told(
    files: Spool[PlannedFile], opens: Opens, records: Iterable[TargetStatsRecord], work: LeasedWork
) -> Spool[PlannedFile]:
    """The same files; of those that aren't opened with what the records, in their order, say."""
    told = Spool(PlannedFile)
    try:
        listed = (record.file for record in records if record.HasField("file"))
        for number, planned in enumerate(files):
            if not opens(planned.file):
                _tell(planned, listed)
            told.write(planned)
            if number % _LOOK_EVERY == 0:
                work.tell(f"statistics of {number} files looked up")
                work.require_live()
    except BaseException:
        told.close()
        raise
    files.close()
    return told


def _tell(planned: PlannedFile, listed: Iterable[FileTargetStats]) -> None:
    found = next((file for file in listed if file.identity == planned.identity), None)
    if found is not None:
        planned.told.CopyFrom(found)
        planned.told.ClearField("identity")
