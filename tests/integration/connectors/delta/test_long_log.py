"""A log of ten thousand commits is opened from its checkpoint, not from its beginning."""

import json
import time
from pathlib import Path

import pyarrow as pa
import pytest
from deltalake import DeltaTable, write_deltalake

from floecat.connectors.delta.log.replay import DeltaLog
from floecat.connectors.delta.log.storage import TableFiles
from floecat.connectors.spi.access import FileAccess
from floecat.security.guard import OutboundRules

COMMITS = 10_000
SINCE = 7


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A real table, its last commit repeated with other files, and a checkpoint near the end."""
    folder = tmp_path_factory.mktemp("long")
    write_deltalake(folder, pa.table({"id": [1, 2, 3]}))
    log = folder / "_delta_log"
    [add] = [
        json.loads(line)
        for line in (log / f"{0:020}.json").read_text().splitlines()
        if '"add"' in line
    ]
    for version in range(1, COMMITS):
        actions: list[dict[str, object]] = [
            {"commitInfo": {"operation": "WRITE", "timestamp": version}},
            {"add": {**add["add"], "path": f"{version}.parquet"}},
        ]
        if version > 1 and version % 2:
            removed = {"path": f"{version - 1}.parquet", "dataChange": True}
            actions.append({"remove": {**removed, "deletionTimestamp": version}})
        lines = "".join(json.dumps(action) + "\n" for action in actions)
        (log / f"{version:020}.json").write_text(lines)
    DeltaTable(folder, version=COMMITS - 1 - SINCE).create_checkpoint()
    return folder


def opened(table: Path) -> DeltaLog:
    return DeltaLog(
        TableFiles(f"file://{table}", FileAccess(rules=OutboundRules(file_roots=(table,))))
    )


@pytest.mark.slow
def test_the_newest_version_needs_a_handful_of_files(table: Path) -> None:
    log = opened(table)
    version = log.version(log.listing.latest)
    assert version.number == COMMITS - 1
    assert log.files.reads <= SINCE + 1
    ours = {add.path for add in log.adds(version.number)}
    theirs = {path.rpartition("/")[2] for path in DeltaTable(table).file_uris()}
    assert {path.rpartition("/")[2] for path in ours} == theirs
    assert log.files.reads <= 2 * (SINCE + 3)


@pytest.mark.slow
def test_new_versions_are_enumerated_without_reading_old_ones(table: Path) -> None:
    log = opened(table)
    new = frozenset(range(COMMITS - 3, COMMITS))
    assert [version.number for version in log.versions(new)] == sorted(new)
    assert log.files.reads <= SINCE + 1


@pytest.mark.slow
def test_it_is_quicker_than_replaying(table: Path) -> None:
    started = time.perf_counter()
    opened(table).version(COMMITS - 1)
    newest = time.perf_counter() - started
    started = time.perf_counter()
    for _ in opened(table).versions(frozenset({COMMITS - 2 - SINCE})):
        pass
    replayed = time.perf_counter() - started
    assert newest < replayed / 3
