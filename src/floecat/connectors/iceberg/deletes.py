"""Which deletes apply to which data file.

A delete speaks of rows that were there before it: by sequence number, equality deletes of strictly
older files, position deletes and deletion vectors also of files of the same commit. It speaks of
one file, of one partition of one spec, or, as an equality delete of an unpartitioned spec, of all.
"""

from collections import defaultdict
from collections.abc import Mapping
from typing import Any, Final

from ai.floedb.floecat.execution.scan_pb2 import DeletionVector, ScanFile, ScanFileContent
from floecat.connectors.iceberg.equality import ColumnMetrics, EqualityMatcher
from floecat.connectors.iceberg.partitions import PartitionKey

_FILE_PATH_ID: Final = 2147483546
_POSITION: Final = 1
_EQUALITY: Final = 2
_PUFFIN: Final = "puffin"

_Numbered = list[tuple[int, int]]
"""Sequence numbers and places among the delete files."""


class DeleteIndex:
    """The deletes of a snapshot, found by what they speak of."""

    def __init__(self, matcher: EqualityMatcher) -> None:
        self.files: list[ScanFile] = []
        self._matcher = matcher
        self._compared: set[int] = set()
        self._metrics: dict[int, dict[int, ColumnMetrics]] = {}
        self._vectors: dict[str, _Numbered] = defaultdict(list)
        self._by_path: dict[str, _Numbered] = defaultdict(list)
        self._by_partition: dict[tuple[int, PartitionKey], _Numbered] = defaultdict(list)
        self._equality: dict[tuple[int, PartitionKey], _Numbered] = defaultdict(list)
        self._everywhere: _Numbered = []

    def add(
        self,
        file: ScanFile,
        record: Mapping[str, Any],
        key: PartitionKey,
        *,
        is_unpartitioned: bool,
    ) -> None:
        """A delete file, with the record its manifest has of it."""
        numbered = (file.sequence_number, len(self.files))
        partition = (file.partition_spec_id, key)
        if record["content"] == _EQUALITY:
            file.content = ScanFileContent.SFC_EQUALITY_DELETES
            ids = record.get("equality_ids") or ()
            file.equality_column_ids.extend(ids)
            self._compared.update(ids)
            self._metrics[len(self.files)] = self._matcher.metrics(record, set(ids))
            speaks_of = self._everywhere if is_unpartitioned else self._equality[partition]
            speaks_of.append(numbered)
        elif file.file_format == _PUFFIN:
            _as_vector(file, record)
            self._vectors[file.referenced_data_file].append(numbered)
        else:
            file.content = ScanFileContent.SFC_POSITION_DELETES
            file.referenced_data_file = _referenced(record)
            if file.referenced_data_file:
                self._by_path[file.referenced_data_file].append(numbered)
            else:
                self._by_partition[partition].append(numbered)
        self.files.append(file)

    @property
    def compares_columns(self) -> bool:
        """Whether a data file's metrics are needed to find its deletes."""
        return bool(self._compared)

    def applying_to(
        self, file: ScanFile, record: Mapping[str, Any], key: PartitionKey
    ) -> list[int]:
        """The places of the deletes that apply to a data file, in order."""
        number, path = file.sequence_number, file.file_path
        partition = (file.partition_spec_id, key)
        found = self._equal(record, partition, number)
        vectors = [place for sequence, place in self._vectors.get(path, ()) if number <= sequence]
        if vectors:  # a vector holds what position deletes before it said
            return sorted(found + vectors)
        positions = [*self._by_path.get(path, ()), *self._by_partition.get(partition, ())]
        found += [place for sequence, place in positions if number <= sequence]
        return sorted(found)

    def _equal(
        self, record: Mapping[str, Any], partition: tuple[int, PartitionKey], number: int
    ) -> list[int]:
        numbered = [*self._everywhere, *self._equality.get(partition, ())]
        younger = [place for sequence, place in numbered if number < sequence]
        if not younger:
            return []
        data = self._matcher.metrics(record, self._compared)
        return [p for p in younger if self._matcher.may_match(self._metrics[p], data)]


def _as_vector(file: ScanFile, record: Mapping[str, Any]) -> None:
    referenced = record.get("referenced_data_file")
    if not referenced:
        raise ValueError(f"the deletion vector in {file.file_path} doesn't say of which file it is")
    file.content = ScanFileContent.SFC_DELETION_VECTOR
    file.referenced_data_file = referenced
    file.deletion_vector.CopyFrom(
        DeletionVector(
            file_path=file.file_path,
            offset=record["content_offset"],
            size_bytes=record["content_size_in_bytes"],
            cardinality=record["record_count"],
            encoding="deletion-vector-v1",
        )
    )


def _referenced(record: Mapping[str, Any]) -> str:
    """The one data file that position deletes speak of; empty when they speak of several.

    Writers that don't say so still have the path's bounds, which are equal then.
    """
    named = record.get("referenced_data_file")
    if named:
        return str(named)
    lower = (record.get("lower_bounds") or {}).get(_FILE_PATH_ID)
    upper = (record.get("upper_bounds") or {}).get(_FILE_PATH_ID)
    return lower.decode() if lower is not None and lower == upper else ""
