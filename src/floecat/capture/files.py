"""capture_file: everything that a policy wants of one parquet file, read once. No Spark in here."""

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from itertools import accumulate
from math import ceil
from typing import Final

import pyarrow as pa

from ai.floedb.floecat.catalog.index_pb2 import IndexArtifactCoverage
from ai.floedb.floecat.catalog.stats_pb2 import FileTargetStats, PartitionValue
from ai.floedb.floecat.execution.capture_pb2 import PlannedFile, SamplingPolicy
from ai.floedb.floecat.execution.stored_pb2 import CoverageShape
from floecat.artifacts.columns import ColumnRow
from floecat.artifacts.sidecars import PageRow
from floecat.capture.bounding import StatedColumn
from floecat.capture.columns import FilePolicy, WantedColumn
from floecat.capture.learning.base import Learning
from floecat.capture.learning.opening import learning_of
from floecat.capture.leaves import FileLeaf
from floecat.capture.opening import ALONE, Opening, opened_source
from floecat.capture.pages import PageRows
from floecat.capture.parquet.reading import ParquetSource, ReadAs
from floecat.connectors.spi.access import FileAccess
from floecat.connectors.spi.emitter import StatsProtoEmitter
from floecat.connectors.spi.ndv import FilteringNdvProvider, NdvProvider
from floecat.connectors.spi.parquet import ParquetNdvProvider
from floecat.types.arrays.arrowtypes import arrow_type_of
from floecat.types.encoding import ValueEncoders
from floecat.types.messages import from_message

_ENCODERS: Final = ValueEncoders()
_REPEATED_AT_ONCE: Final = 1 << 20


@dataclass(slots=True)
class CapturedFile:
    """What was learnt of a file."""

    stats: FileTargetStats
    """Without its columns."""
    rows: dict[int, ColumnRow] = field(default_factory=dict)
    shape: CoverageShape = field(default_factory=CoverageShape)
    """What is known now. Shared with other files."""
    pages: list[PageRow] = field(default_factory=list)
    page_coverage: IndexArtifactCoverage | None = None
    bytes_read: int = 0


def capture_file(
    access: FileAccess,
    planned: PlannedFile,
    policy: FilePolicy,
    opening: Opening = ALONE,
) -> CapturedFile:
    """Read a file. Raises `CaptureFailure`, which says why it can't be read."""
    with opened_source(access, planned, opening) as source:
        return _Capture(source, planned, policy).run()


class _Capture:
    """One file while it is read."""

    def __init__(self, source: ParquetSource, planned: PlannedFile, policy: FilePolicy) -> None:
        self._source = source
        self._planned = planned
        self._policy = policy
        self._groups = range(len(source.statistics.row_counts))
        self._sampled = _sample(planned, policy.sampling, len(self._groups))
        self._columns = policy.columns_of(planned)
        self._partition = {part.name: part for part in planned.file.partition_values}
        self._captured = CapturedFile(self._stats(), shape=self._shape())

    def run(self) -> CapturedFile:
        captured = self._captured
        self._source.expect_values(self._leaves(lambda column: column.wants_data), self._sampled)
        self._source.expect_page_indexes(self._leaves(lambda column: column.page_index))
        for column in self._columns:
            row = self._column(column)
            if row is not None:
                captured.rows[column.column_id] = row
        self._add_page_coverage()
        captured.bytes_read = self._source.bytes_read
        return captured

    def _shape(self) -> CoverageShape:
        """What is known of the file then: every wanted column, whether the file has it or not."""
        everything = _shape_of(self._columns)
        if self._policy.sampling is None or len(self._sampled) == len(self._groups):
            return everything
        return CoverageShape(columns=everything.columns, sampling=self._policy.sampling)

    def _stats(self) -> FileTargetStats:
        stats = StatsProtoEmitter("", 0).file(self._planned.file).file
        stats.row_count = self._source.statistics.num_rows
        stats.ClearField("columns")
        stats.ClearField("live_row_count")
        return stats

    def _column(self, column: WantedColumn) -> ColumnRow | None:
        leaf = self._source.schema.leaves.find(column)
        if leaf is None:
            # What a variant's own leaves are doesn't tell what the column is; but it is there.
            is_there = self._source.schema.leaves.has_group(column)
            return None if is_there else self._absent(column)
        stated = StatedColumn.of(column, leaf, self._source)
        pages = PageRows(stated, self._first_rows) if column.page_index else None
        learning = None
        row = self._with_stated_ndv(stated)
        if column.wants_data or row is None:
            learning = learning_of(column, leaf.arrow_type, stated.physical.stored)
            try:
                row = self._learn(learning, leaf, row, pages)
            except MemoryError:  # a batch was larger than its beginning let expect
                learning = learning_of(column, leaf.arrow_type, stated.physical.stored)
                row = self._learn(learning, leaf, row, pages, in_small_batches=True)
        if pages is not None:
            self._add_pages(pages, learning)
        return row

    def _with_stated_ndv(self, stated: StatedColumn) -> ColumnRow | None:
        """The footer's row, with what the writer counted: few do, and then little else is known."""
        row = stated.row()
        if row is None or stated.footer.distinct_count is None:
            return row
        found = self._stated_ndv.find_ndv(stated.column.column_id)
        if found is None:
            return row
        return replace(row, dictionary_ndv=found.ndv.exact, rows_seen=found.ndv.rows_seen)

    @cached_property
    def _stated_ndv(self) -> NdvProvider:
        """Of columns that nothing is counted of here."""
        find = self._source.schema.leaves.find
        found = {column.column_id: find(column) for column in self._columns if not column.ndv}
        leaves = {number: leaf.number for number, leaf in found.items() if leaf is not None}
        return FilteringNdvProvider(ParquetNdvProvider(self._source.statistics, leaves), leaves)

    def _learn(
        self,
        learning: Learning,
        leaf: FileLeaf,
        stated: ColumnRow | None,
        pages: PageRows | None,
        *,
        in_small_batches: bool = False,
    ) -> ColumnRow:
        groups = self._groups if stated is None else self._sampled
        form = ReadAs(
            dictionary=self._by_dictionary(learning, leaf, groups),
            in_small_batches=in_small_batches,
        )
        look = None if pages is None else pages.look
        for values in self._source.batches(leaf, groups, form=form, look=look):
            learning.add(values)
        if (unit := learning.looks_again_at) is not None:
            for values in self._source.batches(leaf, groups, form=replace(form, unit=unit)):
                learning.look_again(values)
        learnt = learning.row()
        if stated is None or len(groups) == len(self._groups):
            return learnt
        # A sample has seen some of the values; what the footer says is of all of them.
        return replace(
            learnt,
            value_count=stated.value_count,
            null_count=stated.null_count,
            nan_count=None,
            minimum=stated.minimum,
            maximum=stated.maximum,
            minimum_tight=stated.minimum_tight,
            maximum_tight=stated.maximum_tight,
            width_bytes=None,
        )

    def _by_dictionary(self, learning: Learning, leaf: FileLeaf, groups: Sequence[int]) -> bool:
        """Whether the dictionaries of all pages to be read hold all values of theirs."""
        if not learning.takes_dictionaries or leaf.nested:
            return False
        details = self._source.footer.row_groups
        return bool(groups) and all(details[group][leaf.number].only_dictionary for group in groups)

    def _absent(self, column: WantedColumn) -> ColumnRow | None:
        """A column that the file doesn't have: partitioned by, or added later."""
        partition = self._partition_value(column)
        arrow_type = arrow_type_of(column.logical_type)
        learning = learning_of(column, arrow_type)
        if column.repeated or (partition is None and column.has_default):
            # How many values, or which other one than NULL, isn't known, and no reading would tell.
            return None
        value = None
        if partition is not None and partition.HasField("value"):
            value = _ENCODERS.decode_from_string(from_message(partition.type), partition.value)
        rows = self._source.statistics.num_rows
        for start in range(0, rows, _REPEATED_AT_ONCE):
            many = min(_REPEATED_AT_ONCE, rows - start)
            learning.add(pa.repeat(pa.scalar(value, arrow_type), many))
        return learning.row()

    def _partition_value(self, column: WantedColumn) -> PartitionValue | None:
        names = (name for name in column.partition_names if name in self._partition)
        return next((self._partition[name] for name in names), None)

    @cached_property
    def _first_rows(self) -> list[int]:
        """Of the row groups, counted in the whole file."""
        counts = self._source.statistics.row_counts
        return [0, *accumulate(counts)][: len(counts)]

    def _leaves(self, is_meant: Callable[[WantedColumn], bool]) -> list[FileLeaf]:
        find = self._source.schema.leaves.find
        found = (find(column) for column in self._columns if is_meant(column))
        return [leaf for leaf in found if leaf is not None]

    def _add_pages(self, found: PageRows, learning: Learning | None) -> None:
        column_id = found.stated.column.column_id
        few = None if learning is None else learning.small
        whole = len(self._sampled) == len(self._groups)
        if few is not None and whole:
            self._captured.pages.append(
                PageRow(
                    column_id=column_id,
                    row_count=self._source.statistics.num_rows,
                    values=tuple(few),
                )
            )
        self._captured.pages.extend(found.rows())
        coverage = self._captured.page_coverage or IndexArtifactCoverage()
        coverage.column_ids.append(column_id)
        coverage.page_count += found.pages
        without = len(found.groups_without_pages)
        coverage.row_groups_without_pages = max(coverage.row_groups_without_pages, without)
        self._captured.page_coverage = coverage

    def _add_page_coverage(self) -> None:
        coverage = self._captured.page_coverage
        if coverage is not None:
            coverage.row_count = self._source.statistics.num_rows
            coverage.row_group_count = len(self._groups)


@lru_cache(maxsize=64)
def _shape_of(columns: tuple[WantedColumn, ...]) -> CoverageShape:
    """Of columns that everything is read of. Files of a group share it: not to be changed."""
    return CoverageShape(columns=[column.coverage for column in columns])


def _sample(planned: PlannedFile, sampling: SamplingPolicy | None, groups: int) -> Sequence[int]:
    """Row groups chosen at random, the same ones whenever the same file is sampled again."""
    if sampling is None or sampling.row_group_fraction >= 1:
        return range(groups)
    many = ceil(groups * sampling.row_group_fraction)
    chooser = random.Random(f"{sampling.seed}:{planned.identity.file_path}")  # noqa: S311
    return sorted(chooser.sample(range(groups), min(many, groups)))
