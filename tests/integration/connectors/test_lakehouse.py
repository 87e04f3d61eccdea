"""The committed tables are put back as they were made, or not at all."""

import shutil
from pathlib import Path

import pytest
from deltalake import DeltaTable
from tests.support import lakehouse
from tests.support.lakehouse import delta_root, delta_truth, iceberg_root

OPENED_BY_DELTALAKE = (
    "plain",
    "partitioned",
    "vectors",
    "checkpoint_classic",
    "checkpoint_v2_json",
)


@pytest.mark.parametrize("name", OPENED_BY_DELTALAKE)
def test_a_delta_table_is_at_the_version_that_spark_left(name: str) -> None:
    versions = delta_truth()["tables"][name]["versions"]
    assert DeltaTable(delta_root() / name).version() == max(int(version) for version in versions)


def test_commits_have_their_times_again() -> None:
    for version, truth in delta_truth()["tables"]["plain"]["versions"].items():
        commit = delta_root() / "plain" / "_delta_log" / f"{int(version):020}.json"
        assert commit.stat().st_mtime_ns // 10**6 == truth["timestamp_ms"]


def test_what_was_changed_meanwhile_is_noticed(tmp_path: Path) -> None:
    installed, other = tmp_path / "installed", tmp_path / "other"
    for folder in (installed, other):
        shutil.copytree(iceberg_root() / "warehouse" / "deep", folder)
    lakehouse._compare(other, installed)
    (changed, *_) = installed.rglob("*.metadata.json")
    changed.write_bytes(changed.read_bytes().replace(b"a", b"b", 1))
    with pytest.raises(AssertionError, match="remove it"):
        lakehouse._compare(other, installed)
    changed.unlink()
    with pytest.raises(AssertionError, match="remove it"):
        lakehouse._compare(other, installed)
