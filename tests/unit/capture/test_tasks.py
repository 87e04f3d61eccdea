"""Files are spread over tasks by their size."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ai.floedb.floecat.execution.capture_pb2 import PlannedFile
from floecat.capture.columns import FilePolicy, WantedColumn
from floecat.capture.tasks import balanced
from floecat.types.kinds import Kind
from floecat.types.logical import LogicalType

FOOTERS = FilePolicy(columns=())
DATA = FilePolicy(
    columns=(WantedColumn(column_id=1, name="a", logical_type=LogicalType(Kind.INT), ndv=True),)
)


def files(sizes: list[int]) -> list[PlannedFile]:
    planned = []
    for number, size in enumerate(sizes):
        file = PlannedFile()
        file.identity.file_path = str(number)
        file.identity.size_bytes = size
        planned.append(file)
    return planned


@given(st.lists(st.integers(0, 10**9), max_size=200), st.integers(1, 8), st.booleans())
def test_every_file_is_in_one_task(sizes: list[int], parallelism: int, footers: bool) -> None:
    policy, most = (FOOTERS, 256) if footers else (DATA, 16)
    tasks = balanced(files(sizes), policy, parallelism)
    paths = [file.identity.file_path for task in tasks for file in task.planned]
    assert sorted(paths, key=int) == [str(n) for n in range(len(sizes))]
    assert all(0 < len(task.files) <= most for task in tasks)
    assert [task.number for task in tasks] == sorted(task.number for task in tasks)


@pytest.mark.parametrize("parallelism", [1, 2, 4])
def test_tasks_are_of_about_one_size(parallelism: int) -> None:
    sizes = [1000 // (n + 1) for n in range(40)]
    tasks = balanced(files(sizes), DATA, parallelism)
    loads = [sum(file.identity.size_bytes for file in task.planned) for task in tasks]
    assert max(loads) <= max(1000, 2 * sum(sizes) / len(tasks))


def test_no_more_tasks_than_needed_and_none_too_large() -> None:
    def many(count: int, size: int, policy: FilePolicy = DATA) -> int:
        return len(balanced(files([size] * count), policy, 4))

    assert many(3, 1000) == 3
    assert many(40, 1000) == 4
    assert many(65, 1000) == 8  # sixteen files each would leave one over, and three cores idle
    assert many(64, 256 * 2**20) == 32
    assert many(1000, 256 * 2**20, FOOTERS) == 4


def test_many_columns_make_small_tasks() -> None:
    wide = FilePolicy(columns=DATA.columns * 1000)
    assert max(len(task.files) for task in balanced(files([10] * 50), wide, 2)) == 2
    wider = FilePolicy(columns=DATA.columns * 5000)
    assert len(balanced(files([10] * 50), wider, 2)) == 50
