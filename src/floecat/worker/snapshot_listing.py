"""The files of a snapshot, listed once: those to be read, and those that are known already."""

from dataclasses import dataclass
from itertools import chain
from typing import Final

from ai.floedb.floecat.execution.capture_pb2 import PlannedFile
from ai.floedb.floecat.execution.scan_pb2 import SFC_POSITION_DELETES, ScanFile
from floecat.artifacts.coverage import CoverageHash
from floecat.artifacts.index.covered import (
    CoveredDeletes,
    IdentityKey,
    identity_key,
    identity_of,
)
from floecat.connectors.spi.records import ScanBundle
from floecat.worker.captures import PARQUET
from floecat.worker.grouping import GroupSums
from floecat.worker.snapshot_known import Known
from floecat.worker.snapshot_repeats import ListedPaths
from floecat.worker.snapshot_told import Opens
from floecat.worker.spool import Spool
from floecat.worker.work import LeasedWork

_LOOK_EVERY: Final = 1000


@dataclass(frozen=True, slots=True)
class Listed:
    """The files of a snapshot, each kept once, on disk when there are many."""

    files: Spool[PlannedFile]
    """To be read, all of it or some columns."""
    reused: Spool[PlannedFile]
    """Known already."""
    deletes: list[PlannedFile]
    """Position deletes to be read; as many as the bundle has in memory at most."""
    sums: GroupSums
    """Of what is to be read."""
    unopened: int
    """Files to be read that the engine doesn't open."""
    files_total: int
    reused_total: int
    coverage_sha256: str

    @classmethod
    def of(cls, bundle: ScanBundle, work: LeasedWork, known: Known, opens: Opens) -> "Listed":
        files, reused = Spool(PlannedFile), Spool(PlannedFile)
        coverage, paths = CoverageHash(), ListedPaths()
        applied: set[int] = set()
        size = again = unopened = 0
        try:
            for file in bundle.data_files:
                planned = _planned(file)
                coverage.add(planned.identity)
                paths.add(file.file_path)
                applied.update(file.delete_file_indexes)
                if known.files is not None and known.files.apply(planned):
                    reused.write(planned)
                    again += 1
                else:
                    files.write(planned)
                    size += file.file_size_bytes
                    unopened += not opens(file)
                if len(coverage) % _LOOK_EVERY == 0:
                    work.tell(f"{len(coverage)} files listed")
                    work.require_live()
            paths.require_once(file.file.file_path for file in chain(files, reused))
            deletes = _deletes_to_read(bundle, applied, known.deletes)
        except BaseException:
            files.close()
            reused.close()
            raise
        total = len(coverage)
        size += sum(file.identity.size_bytes for file in deletes)
        return cls(
            files=files,
            reused=reused,
            deletes=deletes,
            sums=GroupSums(total - again + len(deletes), size),
            unopened=unopened,
            files_total=total,
            reused_total=again,
            coverage_sha256=coverage.hexdigest(),
        )


def _deletes_to_read(
    bundle: ScanBundle, applied: set[int], known: CoveredDeletes | None
) -> list[PlannedFile]:
    """The position deletes that apply to some file, and whose positions nobody knows yet.

    Those that aren't parquet are left out: how many rows they have is all that is known of them.
    """
    found: dict[IdentityKey, PlannedFile] = {}
    for number in sorted(applied.intersection(range(len(bundle.delete_files)))):
        planned = _planned(bundle.delete_files[number])
        file = planned.file
        is_read = file.content == SFC_POSITION_DELETES and file.file_format.lower() in PARQUET
        if is_read and (known is None or known.find(planned.identity) is None):
            found[identity_key(planned.identity)] = planned
    return list(found.values())


def _planned(file: ScanFile) -> PlannedFile:
    return PlannedFile(file=file, identity=identity_of(file))
