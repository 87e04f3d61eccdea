"""SnapshotDeletes: what is known of the position deletes of a snapshot while it is put together."""

from collections.abc import Mapping, Sequence

from ai.floedb.floecat.catalog.stats_pb2 import FileIdentity
from ai.floedb.floecat.execution.capture_pb2 import PlannedFile
from ai.floedb.floecat.execution.scan_pb2 import SFC_POSITION_DELETES, ScanFile
from floecat.artifacts.index.covered import (
    CoveredDeletes,
    IdentityKey,
    identity_key,
    identity_of,
)
from floecat.artifacts.index.reading import ScanIndexFile
from floecat.artifacts.index.rows import DeleteUse


class SnapshotDeletes:
    """Which segments know the positions of delete files; and what an older index knew of files."""

    def __init__(self, delete_files: Sequence[ScanFile], base: ScanIndexFile | None) -> None:
        self._base = base
        self._numbers: dict[IdentityKey, list[int]] = {}
        self._before: dict[int, int] = {}
        self.known: dict[int, DeleteUse] = {}
        """By the number of the delete file."""
        covered = None if base is None else CoveredDeletes(base)
        for number, file in enumerate(delete_files):
            if file.content == SFC_POSITION_DELETES:
                identity = identity_of(file)
                self._numbers.setdefault(identity_key(identity), []).append(number)
                if covered is not None:
                    self._take_over(number, identity, covered)

    def _take_over(self, number: int, identity: FileIdentity, covered: CoveredDeletes) -> None:
        before, use = covered.number(identity), covered.find(identity)
        if before is not None:
            self._before[number] = before
        if use is not None:
            self.known[number] = use

    def learn(self, uses: Mapping[IdentityKey, DeleteUse]) -> None:
        """Take what the segments of a group know."""
        for identity, use in uses.items():
            self.known.update(dict.fromkeys(self._numbers.get(identity, ()), use))

    def live_before(self, file: PlannedFile) -> int | None:
        """The live rows of a file that is used again, if the same position deletes applied to it.

        They needn't be counted then, however many positions that would be.
        """
        numbers = file.file.delete_file_indexes
        if self._base is None or not numbers or not self._before.keys() >= set(numbers):
            return None
        told = self._base.deleted_at(file.index_part, file.index_row)
        if told is None or {self._before[n] for n in numbers} != set(told.delete_files):
            return None
        return told.live_row_count
