"""Groups of files: everything once, within the limits, balanced, the same each time."""

from itertools import pairwise

from hypothesis import example, given
from hypothesis import strategies as st

from ai.floedb.floecat.catalog.stats_pb2 import FileIdentity
from ai.floedb.floecat.execution.capture_pb2 import FileGroup, PlannedFile
from ai.floedb.floecat.execution.scan_pb2 import SFC_POSITION_DELETES
from floecat.worker.grouping import GroupLimits, GroupSums, grouped


def planned(sizes: list[int]) -> list[PlannedFile]:
    return [
        PlannedFile(identity=FileIdentity(file_path=f"f{number}", size_bytes=size))
        for number, size in enumerate(sizes)
    ]


def groups_of(sizes: list[int], max_files: int, max_bytes: int) -> list[FileGroup]:
    sums = GroupSums(len(sizes), sum(sizes))
    limits = GroupLimits(max_files=max_files, max_bytes=max_bytes)
    return list(grouped(planned(sizes), sums, limits))


@given(st.lists(st.integers(0, 1000), max_size=60), st.integers(1, 20), st.integers(1, 3000))
@example([0, 0, 0], 2, 10)
@example([5000], 3, 10)
def test_every_file_is_in_one_group_within_the_limits(
    sizes: list[int], max_files: int, max_bytes: int
) -> None:
    groups = groups_of(sizes, max_files, max_bytes)
    paths = [file.identity.file_path for group in groups for file in group.files]
    assert paths == [f"f{number}" for number in range(len(sizes))]
    for group in groups:
        assert 1 <= len(group.files) <= max_files
        assert group.total_bytes == sum(file.identity.size_bytes for file in group.files)
        assert group.total_bytes <= max_bytes or len(group.files) == 1
    assert [group.ordinal for group in groups] == list(range(len(groups)))
    assert len({group.group_id for group in groups}) == len(groups)
    assert all(a.group_id < b.group_id for a, b in pairwise(groups))


@given(st.lists(st.integers(0, 1000), max_size=60))
def test_grouping_is_repeatable(sizes: list[int]) -> None:
    assert groups_of(sizes, 7, 900) == groups_of(sizes, 7, 900)


def test_groups_are_of_about_the_same_size() -> None:
    groups = groups_of([100] * 129, 128, 10**9)
    assert [len(group.files) for group in groups] == [65, 64]
    sizes = [10, 90, 50, 50, 20, 80] * 50
    loads = [group.total_bytes for group in groups_of(sizes, 1000, 1600)]
    assert len(loads) <= 11
    assert max(loads[:-1]) - min(loads[:-1]) <= 180


def test_a_giant_stands_alone() -> None:
    groups = groups_of([10, 10, 10_000, 10, 10], 128, 100)
    alone = [group for group in groups if group.total_bytes >= 10_000]
    assert [len(group.files) for group in alone] == [1]


def test_no_group_is_too_long_to_be_sent() -> None:
    files = planned([1] * 100)
    for file in files:
        file.file.delete_file_indexes.extend(range(10_000))
    limits = GroupLimits(max_files=1000, max_bytes=10**9)
    groups = list(grouped(files, GroupSums(100, 100), limits))
    assert len(groups) > 1
    assert all(group.ByteSize() <= 1_100_000 for group in groups)


def test_delete_files_are_grouped_with_the_others_and_told_apart() -> None:
    files = planned([100] * 6)
    for file in files[4:]:
        file.file.content = SFC_POSITION_DELETES
    limits = GroupLimits(max_files=3, max_bytes=10**9)
    groups = list(grouped(files, GroupSums(6, 600), limits))
    told = [(len(group.files), len(group.delete_files)) for group in groups]
    assert told == [(3, 0), (1, 2)]
    assert [group.total_bytes for group in groups] == [300, 300]
    alone = list(grouped(files[4:], GroupSums(2, 200), limits))
    assert [(len(group.files), len(group.delete_files)) for group in alone] == [(0, 2)]
