"""File groups: the files of a snapshot, in their order, cut into groups of about the same size."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from math import ceil
from typing import Final

from ai.floedb.floecat.execution.capture_pb2 import FileGroup, PlannedFile
from ai.floedb.floecat.execution.scan_pb2 import SFC_POSITION_DELETES

_MESSAGE_BYTES: Final = 1024 * 1024
"""What a group may take up in the plan: files with many deletes are long to describe."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupLimits:
    """How large a group may be. A file that is larger by itself is a group by itself."""

    max_files: int
    max_bytes: int


@dataclass(frozen=True, slots=True)
class GroupSums:
    """What there is to group. Known before the first group is cut, so that the last isn't tiny."""

    files: int
    bytes: int

    def groups(self, limits: GroupLimits) -> int:
        """The fewest groups that could do."""
        return max(1, ceil(self.files / limits.max_files), ceil(self.bytes / limits.max_bytes))


def grouped(
    files: Iterable[PlannedFile], sums: GroupSums, limits: GroupLimits
) -> Iterator[FileGroup]:
    """Groups in the files' order: neighbours stay together, as manifests and partitions have them.

    A file weighs its bytes and as much again as the mean file: opening one costs as well as reading
    it does. Each cut is made where the files so far weigh their share, whatever earlier cuts did.
    """
    cutting = _Cutting(sums, limits)
    for file in files:
        yield from cutting.add(file)
    yield from cutting.rest()


class _Cutting:
    def __init__(self, sums: GroupSums, limits: GroupLimits) -> None:
        self._limits = limits
        self._mean = sums.bytes / max(sums.files, 1)
        self._share = max(2 * sums.bytes, 1) / sums.groups(limits)
        self._weight = 0.0
        self._cuts = 0
        self._described = 0
        self._group = FileGroup()

    def add(self, file: PlannedFile) -> Iterator[FileGroup]:
        """Take a file; the groups that are complete with it."""
        if self._count() and not self._fits(file):
            yield self._cut()
        is_delete = file.file.content == SFC_POSITION_DELETES
        (self._group.delete_files if is_delete else self._group.files).append(file)
        self._described += file.ByteSize()
        self._group.total_bytes += file.identity.size_bytes
        self._weight += file.identity.size_bytes + self._mean
        if self._is_full():
            yield self._cut()

    def rest(self) -> Iterator[FileGroup]:
        """What is left at the end."""
        if self._count():
            yield self._cut()

    def _count(self) -> int:
        return len(self._group.files) + len(self._group.delete_files)

    def _fits(self, file: PlannedFile) -> bool:
        grown = self._group.total_bytes + file.identity.size_bytes
        return (
            self._count() < self._limits.max_files
            and grown <= self._limits.max_bytes
            and self._described + file.ByteSize() <= _MESSAGE_BYTES
        )

    def _is_full(self) -> bool:
        has_its_share = self._weight >= self._share * (self._cuts + 1) * (1 - 1e-9)
        return has_its_share or self._group.total_bytes >= self._limits.max_bytes

    def _cut(self) -> FileGroup:
        group, self._group = self._group, FileGroup()
        self._described = 0
        group.ordinal = self._cuts
        group.group_id = f"{self._cuts:06}"
        self._cuts += 1
        return group
