"""Paths that are listed twice are found among many that aren't."""

import pytest

from floecat.connectors.spi.errors import BrokenTableError
from floecat.worker.snapshot_repeats import ListedPaths


def listed(paths: list[str]) -> ListedPaths:
    found = ListedPaths()
    for path in paths:
        found.add(path)
    return found


@pytest.mark.parametrize("many", [0, 1, 1000])
def test_paths_that_differ_are_fine(many: int) -> None:
    paths = [f"s3://lake/{number}.parquet" for number in range(many)]
    listed(paths).require_once(paths)


def test_one_among_many_is_named() -> None:
    paths = [f"s3://lake/{number}.parquet" for number in range(1000)]
    paths.insert(3, paths[700])
    with pytest.raises(BrokenTableError, match=r"s3://lake/700\.parquet more than once"):
        listed(paths).require_once(paths)
